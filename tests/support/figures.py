"""What tests measured, beside that it was good enough: their properties of the name "figure"."""


def write(terminalreporter):
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties:
            if name == "figure" and report.when == "call":
                terminalreporter.write_line(f"{report.nodeid.partition('::')[2]}: {value}")
