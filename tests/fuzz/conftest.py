def pytest_addoption(parser):
    parser.addoption("--seconds", type=int, default=60, help="how long each target runs")
