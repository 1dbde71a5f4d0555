#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: phone_check.py [--screenshots FOLDER] CHROMIUM PAGE.html...

Opens pages in a real browser with the screen of a phone, 390 pixels wide, and of a small one, 320, and says what is wrong
with them there: the page scrolls sideways, or what is wider than the screen does not scroll by itself; text is smaller
than 11 pixels; the browser's console has errors; it does not say that it is made for phones. Speaks Chromium's DevTools protocol through its pipe.
"""
import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCREENS = {"phone": (390, 844), "small phone": (320, 568)}
SMALLEST = 11  # pixels of text
SECONDS = 60  # in which the browser answers, or is given up

# What is wrong with a page, as a list of texts.
MEASURE = f"""(() => {{
  const wrong = [], width = document.documentElement.clientWidth;
  if (width > screen.width) wrong.push(`it is made for a screen of ${{width}} pixels: no <meta name="viewport">`);
  if (document.documentElement.scrollWidth > width)
    wrong.push(`the page is ${{document.documentElement.scrollWidth}} pixels wide on a screen of ${{width}}`);
  const name = e => e.tagName.toLowerCase() + (e.className ? '.' + e.className : '') + ' "' +
                    (e.textContent || '').trim().slice(0, 40) + '"';
  const scrolls = e => {{
    for (; e && e !== document.body; e = e.parentElement)
      if (['auto', 'scroll'].includes(getComputedStyle(e).overflowX)) return true;
    return false;
  }};
  for (const e of document.body.querySelectorAll('*')) {{
    const box = e.getBoundingClientRect();
    if (box.width === 0) continue;
    if (box.right > width + 1 && !scrolls(e)) wrong.push(`past the right edge: ${{name(e)}}`);
    const own = [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    if (own && parseFloat(getComputedStyle(e).fontSize) < {SMALLEST})
      wrong.push(`text of ${{getComputedStyle(e).fontSize}}: ${{name(e)}}`);
  }}
  if (!document.title || !document.body.textContent.trim()) wrong.push('there is nothing to read');
  return wrong.slice(0, 8);
}})()"""


class Browser:
    """A browser with one page."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()
        # The protocol's pipe is descriptors 3 and 4.
        command = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(
            ["sh", "-c", command, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.answers = os.fdopen(self.back, "rb")
        self.count, self.session, self.events = 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log":
            self.call(f"{domain}.enable")

    def read(self):
        text = b""
        while not text.endswith(b"\0"):
            byte = self.answers.read(1)
            if not byte:
                raise SystemExit(f"phone_check: the browser ended with status {self.process.wait()}")
            text += byte
        return json.loads(text[:-1])

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") != self.count:
                self.events.append(answer)
            elif "error" in answer:
                raise SystemExit(f"phone_check: {method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    def open(self, url, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=True)
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def wrong(self):
        result = self.call("Runtime.evaluate", expression=MEASURE, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"phone_check: {result['exceptionDetails']}")
        said = [event["params"]["entry"]["text"] for event in self.events if event.get("method") == "Log.entryAdded"]
        return result["result"]["value"] + [f"the console: {text}" for text in said]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(SECONDS)
        self.answers.close()
        os.close(self.to)
        self.folder.cleanup()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0].removeprefix("usage: "))
    parser.add_argument("--screenshots", type=Path)
    parser.add_argument("chromium")
    parser.add_argument("pages", nargs="+", type=Path)
    options = parser.parse_args()
    browser, failures = Browser(options.chromium), 0
    for page in options.pages:
        for screen, (width, height) in SCREENS.items():
            browser.open(page.resolve().as_uri(), width, height)
            wrong = browser.wrong()
            failures += len(wrong)
            print(f"{page.name} on a {screen}, {width} pixels wide: {'; '.join(wrong) or 'nothing is cut off'}")
            if options.screenshots:
                options.screenshots.mkdir(parents=True, exist_ok=True)
                browser.screenshot(options.screenshots / f"{page.stem}-{width}.png")
    browser.close()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
