"""Makes a check of a cell bare and under the shim, and says what the two together mean."""
from harness import checks

REPETITIONS = 2  # of a check that fails and was not known to


class Outcome:
    def __init__(self, note=None, failure=None, reason=None):
        self.note = note
        self.failure = failure  # the exception
        self.reason = reason  # why it does not apply


class Trial:
    """Keeps the bare and the dealt server of one cell for the checks that can share them."""

    def __init__(self, results):
        self.results = results
        self.labs = {}
        self.key = None  # of the cell that they are of

    def make(self, cell, check):
        """Fails as the check does, if that is not known of this cell and not only so at times."""
        mark, bare, dealt = self._try(cell, check)
        known = cell.own.get(check.name) or cell.fails.get(check.name)
        if self._is_new(cell, check, mark) and self._goes_well_again(cell, check):
            failure = f"{dealt.failure or bare.failure}".strip() or "no reason"
            mark, known = "at times", f"failed once, then did not: {failure.splitlines()[0][:200]}"
        self.results.add(cell, check, mark, dealt.reason or (known if mark != "ok" else None),
                         bare.note, dealt.note)
        if mark == "own":
            assert check.name in cell.own, f"fails bare too, say why in the cell: {bare.failure}"
        elif mark == "FAILS" and check.name not in cell.fails:
            raise dealt.failure
        elif mark == "ok" and check.name in cell.fails and check.name not in cell.at_times:
            assert not self._goes_well_again(cell, check), "this works now: say so in the cell"

    def _try(self, cell, check):
        bare, dealt = (self._outcome(cell, check, dealt) for dealt in (False, True))
        return self._mark(cell, check, bare, dealt), bare, dealt

    @staticmethod
    def _is_new(cell, check, mark):
        return mark in ("own", "FAILS") and check.name not in cell.own | cell.fails

    def _goes_well_again(self, cell, check):
        """Servers and machines have their moments. What is only so at times is said in the table;
        what fails each time fails the test."""
        for _ in range(REPETITIONS):
            self.close()
            if self._try(cell, check)[0] == "ok":
                return True
        return False

    @staticmethod
    def _mark(cell, check, bare, dealt):
        if dealt.reason:
            return "n.a."
        if not dealt.failure:
            return "ok"
        if check.name in cell.own | cell.fails:  # whatever the bare server did this once
            return "own" if check.name in cell.own else "FAILS"
        return "own" if bare.failure else "FAILS"

    def _outcome(self, cell, check, dealt):
        try:
            if not check.fresh:
                return Outcome(note=check.run(self._shared(cell, check, dealt)))
            lab = check.lab(cell, dealt)
            try:
                return Outcome(note=check.run(lab))
            finally:
                lab.close()
        except checks.NotApplicable as reason:
            return Outcome(reason=str(reason))
        except Exception as failure:
            return Outcome(failure=failure)

    def _shared(self, cell, check, dealt):
        if self.key != cell.key:
            self.close()
            self.key = cell.key
        if dealt not in self.labs:
            self.labs[dealt] = check.lab(cell, dealt)
        return self.labs[dealt]

    def close(self):
        for lab in self.labs.values():
            lab.close()
        self.labs = {}
