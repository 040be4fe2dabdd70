// Takes two pictures of the status page. Arguments: its address, how many seconds it is to be open,
// the folder of the npm packages, and where to put them.
import { launch } from './browser.mjs';

const [address, seconds, packages, place] = process.argv.slice(2);
const browser = await launch(packages);
const open = async (options) => {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(address);
  return page;
};
const desk = await open({ viewport: { width: 1100, height: 900 }, colorScheme: 'light' });
const phone = await open({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
await desk.waitForTimeout(1000 * seconds);
await desk.screenshot({ path: `${place}/status-page.png`, fullPage: true });
await phone.screenshot({ path: `${place}/status-page-phone.png` });
await browser.close();
