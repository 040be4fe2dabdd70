def pytest_addoption(parser):
    parser.addoption("--seconds", type=float, default=60, help="how long there is chaos")
    parser.addoption("--seed", type=int, default=None, help="what happens; another each time by default")
