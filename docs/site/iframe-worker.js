// The search runs in a worker, and browsers start none for pages opened from a disk: there, a hidden frame does its work.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = `<script>
        var importScripts = () => {};
        var postMessage = (data) => parent.dispatchEvent(new MessageEvent("answer", { data }));
      </script><script src="${url}"></script>`;
      this.frame = new Promise((ready) => frame.addEventListener("load", () => ready(frame.contentWindow)));
      window.addEventListener("answer", (event) =>
        this.dispatchEvent(new MessageEvent("message", { data: event.data })));
      document.body.appendChild(frame);
    }
    postMessage(data) {
      this.frame.then((window) => window.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
