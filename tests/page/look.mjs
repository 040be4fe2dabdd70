// Looks at the status page in a browser: each of two widths in each colour scheme. Arguments: the
// page's address, how many workers it shows, the folder of the npm packages. Says "ready" when all
// pages show the workers, then expects one of them to die, and says what it found as a line of JSON.
import { readFileSync } from 'node:fs';
import { launch, require_from } from './browser.mjs';

const [address, workers, packages] = process.argv.slice(2);
const axe = readFileSync(require_from(packages).resolve('axe-core/axe.min.js'), 'utf8');
const patience = 45000;

const variants = [[390, 844], [1440, 900]].flatMap(([width, height]) =>
  ['light', 'dark'].map((colorScheme) => ({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })));
const complaints = [];
const rows = 'article[aria-label="Listener web"] tbody tr';

// All that is off, as lines. `name` is of the variant; `checked`: by axe-core too, which takes long.
async function examine(page, name, checked) {
  const found = [];
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  if (wide > room) found.push(`${name}: ${wide} pixels wide where ${room} are`);
  if (await page.locator('#listeners img, #machine img').count()) found.push(`${name}: a name became markup`);
  if (!checked) return found;
  await page.evaluate(axe + ';0');
  const results = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  for (const each of results.violations) {
    if (['serious', 'critical'].includes(each.impact))
      found.push(`${name}: ${each.id}: ${each.help}: ${each.nodes[0].html.slice(0, 200)}`);
  }
  return found;
}

// With the keyboard alone: to the listeners, and the workers sorted by their load.
async function useKeyboard(page, name) {
  const found = [];
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  if (await page.evaluate(() => document.activeElement.id) !== 'listeners') found.push(`${name}: skips nowhere`);
  const sort = page.locator('article[aria-label="Listener web"] th button', { hasText: 'load' });
  for (let i = 0; i < 20 && !(await sort.evaluate((each) => each === document.activeElement)); ++i)
    await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  if (await page.locator('article[aria-label="Listener web"] th[aria-sort="descending"]').textContent() !== 'load')
    found.push(`${name}: is not sorted by load`);
  return found;
}

const browser = await launch(packages);
try {
  const pages = [];
  for (const variant of variants) {
    const name = `${variant.viewport.width} pixels, ${variant.colorScheme}`;
    const page = await (await browser.newContext(variant)).newPage();
    page.setDefaultTimeout(patience);
    page.on('console', (message) => complaints.push(`${name}: ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`${name}: ${error}`));
    await page.goto(address);
    const is_odd = (variant.viewport.width > 640) === (variant.colorScheme === 'dark');
    pages.push({ name, page, checked: Number(workers) <= 16 || is_odd });
  }
  const shows = (page, count) => page.waitForFunction(
    ([selector, wanted]) => document.querySelectorAll(selector).length === wanted, [rows, count]);
  for (const { page } of pages) {
    await shows(page, Number(workers));
    await page.locator('#connection.live').waitFor();
    await page.waitForFunction(() => document.querySelector('svg.history polyline')?.getAttribute('points').includes(' '));
  }
  console.log('ready');
  for (const { page } of pages) {
    await shows(page, Number(workers) - 1);
    await page.locator('#log li', { hasText: '1 worker left or died' }).waitFor();
  }
  for (const { name, page, checked } of pages) {
    complaints.push(...await examine(page, name, checked), ...await useKeyboard(page, name));
    if (process.env.RINGDEAL_PAGE_PICTURES)
      await page.screenshot({ path: `${process.env.RINGDEAL_PAGE_PICTURES}/${workers} ${name}.png`, fullPage: true });
    await page.close();
  }
  console.log(JSON.stringify(complaints));
} finally {
  await browser.close();
}
