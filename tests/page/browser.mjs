// Starts the browser.
import { createRequire } from 'node:module';

export const require_from = (packages) => createRequire(packages + '/');
export const launch = (packages) => require_from(packages)('playwright-core').chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'] });
