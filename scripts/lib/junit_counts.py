"""Prints how many tests of a JUnit file passed, failed and were skipped. With --skipped, prints the
skipped ones and why. Usage: junit_counts.py [--skipped] FILE"""

import sys
import xml.etree.ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    # CTest says it in the attribute, pytest with an element.
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "failed" if case.get("status") == "fail" else "passed"


def main(arguments):
    cases = list(xml.etree.ElementTree.parse(arguments[-1]).iter("testcase"))
    if "--skipped" in arguments:
        for case in cases:
            if outcome(case) == "skipped":
                reason = case.find("skipped")
                message = reason.get("message", "") if reason is not None else ""
                print(f"{case.get('name')}: {message}")
        return
    outcomes = [outcome(case) for case in cases]
    print(*(outcomes.count(word) for word in ("passed", "failed", "skipped")))


if __name__ == "__main__":
    main(sys.argv[1:])
