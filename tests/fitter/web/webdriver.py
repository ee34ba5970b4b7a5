# SPDX-License-Identifier: GPL-3.0-or-later
"""Chromium without a screen, driven by the requests of W3C's WebDriver, and a server for the folder that it shows."""
import contextlib
import functools
import http.server
import json
import subprocess
import threading
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
LIMIT = 120  # seconds until what is waited for hangs


class Browser:
    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}"
        self.wait(lambda: self.call("GET", "/status")["ready"])
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1600"]}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += f"/session/{made['sessionId']}"

    def call(self, method, path, body=None):
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def wait(self, happened):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                found = happened()
                if found:
                    return found
            time.sleep(0.02)
        raise TimeoutError("what is waited for does not come")

    def open(self, address):
        self.call("POST", "/url", {"url": address})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_until_done(self, script):
        """A script that calls arguments[0] with what it returns."""
        return self.call("POST", "/execute/async", {"script": script, "args": []})

    def type(self, selector, keys):
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": keys})

    def click(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click")

    def press(self, *keys):
        """Keys, for what has the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def messages(self):
        return self.call("POST", "/se/log", {"type": "browser"})


@contextlib.contextmanager
def browser():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as free:
        port = free.server_port
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(["chromedriver", f"--port={port}"], **silent) as driver:
        shown = None
        try:
            shown = Browser(port)
            yield shown
        finally:
            if shown:
                shown.call("DELETE", "")
            driver.terminate()


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()
