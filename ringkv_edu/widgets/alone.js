// What a widget's model is to the module, without a kernel; for each figure that has none yet.
for (const el of document.querySelectorAll(".ringkv-alone:empty:not([data-on])")) {
  el.dataset.on = 1;
  const state = JSON.parse(el.dataset.state), model = { get: name => state[name], on() {}, off() {},
    set: (name, value) => { state[name] = value; }, save_changes() {} };
  import("data:text/javascript;base64,MODULE").then(it => it.default.render({ model, el }));
}
