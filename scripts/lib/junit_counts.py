"""Prints how many tests of a JUnit file passed, failed and were skipped. With --skipped, prints the
skipped ones and why, but for those that only --slow runs; with --failed, the failed ones and the end of
what each says. Usage: junit_counts.py [--skipped|--failed] FILE"""

import re
import sys
import xml.etree.ElementTree

LINES_OF_A_FAILURE = 30


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    # CTest says it in the attribute, pytest with an element.
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "failed" if case.get("status") == "fail" else "passed"


def reason(case):
    element = case.find("skipped")
    return element.get("message", "") if element is not None else ""


def what_it_says(case):
    """Where it went through Python's lines to its end, and its last lines."""
    texts = [element.text or "" for kind in ("failure", "error", "system-out") for element in case.findall(kind)]
    lines = "\n".join(text for text in texts if text.strip()).splitlines()
    first = lines[:-LINES_OF_A_FAILURE]
    return [line for line in first if re.match(r">|\S+\.py:\d+: ", line)] + lines[-LINES_OF_A_FAILURE:]


def main(arguments):
    cases = list(xml.etree.ElementTree.parse(arguments[-1]).iter("testcase"))
    if "--skipped" in arguments:
        for case in cases:
            if outcome(case) == "skipped" and not reason(case).startswith("slow: "):
                print(f"{case.get('name')}: {reason(case)}")
    elif "--failed" in arguments:
        for case in cases:
            if outcome(case) == "failed":
                print(case.get("name"), *(f"  {line}" for line in what_it_says(case)), sep="\n")
    else:
        outcomes = [outcome(case) for case in cases]
        print(*(outcomes.count(word) for word in ("passed", "failed", "skipped")))


if __name__ == "__main__":
    main(sys.argv[1:])
