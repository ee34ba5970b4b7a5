// SPDX-License-Identifier: GPL-3.0-or-later
// The function with the table's outputs, and the errors below, at the codes of a part that is chosen: a canvas, as
// 65,536 codes are too many elements. Where codes share a column of pixels, it shows the least and the largest of them.
const LEFT = 64, RIGHT = 12, TOP = 20, BOTTOM = 36, GAP = 28, SHARE = 0.58; // px; of the height that the curve takes
const MOST_KNOTS = 200; // that are drawn at a time
const COLUMNS = 5;      // of a row: code, x, target, output, error
const [CODE, X, TARGET, OUTPUT, ERROR] = [0, 1, 2, 3, 4];

const number = value => String(+value.toPrecision(6));

// Round values of about the wanted number in a range.
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(k => k * power >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++)
    found.push(k * step);
  return found;
}

export class Chart {
  // read(text) is told what is at the chosen code.
  constructor(canvas, read) {
    Object.assign(this, {canvas, read, rows: new Float64Array(), starts: [], low: 0, high: 1, at: 0});
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    canvas.addEventListener("wheel", event => this.wheel(event), {passive: false});
    canvas.addEventListener("pointerdown", event => this.press(event));
    canvas.addEventListener("keydown", event => this.key(event));
  }

  get count() { return this.rows.length / COLUMNS; }
  get width() { return this.canvas.clientWidth - LEFT - RIGHT; }
  value(i, column) { return this.rows[i * COLUMNS + column]; }

  // Rows of all codes from the least on; the codes at which segments start.
  show(rows, starts) {
    Object.assign(this, {rows, starts, low: 0, high: rows.length / COLUMNS});
    this.choose(this.worst());
  }

  worst() {
    let worst = 0;
    for (let i = 1; i < this.count; i++)
      if (Math.abs(this.value(i, ERROR)) > Math.abs(this.value(worst, ERROR)))
        worst = i;
    return worst;
  }

  // The code of a row; the part follows where it lies outside.
  choose(row) {
    this.at = Math.max(0, Math.min(this.count - 1, row));
    if (this.at < this.low || this.at >= this.high)
      this.look(this.at - (this.high - this.low) / 2, this.high - this.low);
    const [code, x, target, output, error] = this.rows.subarray(this.at * COLUMNS, (this.at + 1) * COLUMNS);
    const segment = this.starts.filter(start => start <= code).length - 1;
    this.read(code, `Code ${code}, x = ${number(x)}: target ${number(target)}, output ${output}, ` +
              `error ${number(error)} LSB` + (segment < 0 ? "" : `, segment ${segment}`));
    this.draw();
  }

  chooseCode(code) { this.choose(Math.round(code) - this.value(0, CODE)); }

  look(low, size) {
    size = Math.max(Math.min(16, this.count), Math.min(this.count, size));
    this.low = Math.max(0, Math.min(this.count - size, low));
    this.high = this.low + size;
    this.draw();
  }

  zoom(factor, around = this.at) {
    const size = (this.high - this.low) * factor;
    this.look(around - (around - this.low) * factor, size);
  }

  move(share) { this.look(this.low + share * (this.high - this.low), this.high - this.low); }

  act(name) {
    const acts = {in: () => this.zoom(0.5), out: () => this.zoom(2), left: () => this.move(-0.25),
                  right: () => this.move(0.25), all: () => this.look(0, this.count),
                  worst: () => this.choose(this.worst())};
    acts[name]();
  }

  key(event) {
    const step = event.shiftKey ? Math.ceil((this.high - this.low) / 20) : 1;
    const keys = {ArrowLeft: () => this.choose(this.at - step), ArrowRight: () => this.choose(this.at + step),
                  "+": () => this.act("in"), "-": () => this.act("out"), PageUp: () => this.act("left"),
                  PageDown: () => this.act("right"), Home: () => this.act("all")};
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey)
      return;
    event.preventDefault();
    keys[event.key]();
  }

  rowAt(event) { return this.low + (event.offsetX - LEFT) / this.width * (this.high - this.low); }

  wheel(event) {
    if (document.activeElement !== this.canvas) // else the page would not scroll past it
      return;
    event.preventDefault();
    this.zoom(2 ** (event.deltaY / 400), this.rowAt(event));
  }

  press(event) {
    const from = event.offsetX, low = this.low, size = this.high - this.low;
    const drag = moved => this.look(low + (from - moved.offsetX) / this.width * size, size);
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.addEventListener("pointermove", drag);
    this.canvas.addEventListener("pointerup", up => {
      this.canvas.removeEventListener("pointermove", drag);
      if (Math.abs(up.offsetX - from) < 4)
        this.choose(Math.floor(this.rowAt(up)));
    }, {once: true});
  }

  draw() {
    const {canvas} = this, ratio = devicePixelRatio, width = canvas.clientWidth, height = canvas.clientHeight;
    if (this.count === 0 || width === 0)
      return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const style = getComputedStyle(canvas), color = name => style.getPropertyValue(`--${name}`);
    const draw = canvas.getContext("2d"), room = height - TOP - BOTTOM - GAP;
    draw.scale(ratio, ratio);
    draw.font = `12px ${style.fontFamily}`;
    draw.lineWidth = 1;
    const first = Math.floor(this.low), last = Math.min(this.count, Math.ceil(this.high));
    const paint = {draw, color, first, last, x: row => LEFT + (row - this.low) / (this.high - this.low) * this.width};
    const outputs = [[TARGET, "curve", "target"], [OUTPUT, "text", "table"]];
    this.panel(paint, TOP, room * SHARE, outputs, "output codes", false);
    this.panel(paint, TOP + room * SHARE + GAP, room * (1 - SHARE), [[ERROR, "error", ""]], "error, LSB", true);
    this.axis(paint, height);
  }

  // The columns of rows in a frame, each in its colour and with its name; with zero in the middle where that matters.
  panel(paint, top, height, series, label, even) {
    const {draw, color, x, first, last} = paint;
    let low = Infinity, high = -Infinity;
    for (const [column] of series)
      for (let i = first; i < last; i++) {
        low = Math.min(low, this.value(i, column));
        high = Math.max(high, this.value(i, column));
      }
    const most = even ? Math.max(Math.abs(low), Math.abs(high)) || 1 : 0;
    [low, high] = even ? [-most, most] : [low, low === high ? low + 1 : high];
    const y = value => top + height - (value - low) / (high - low) * height;
    draw.fillStyle = color("soft");
    draw.textAlign = "right";
    for (const tick of ticks(low, high, 5)) {
      this.line(paint, LEFT, y(tick), LEFT + this.width, y(tick), tick === 0 ? "soft" : "rule");
      draw.fillText(number(tick), LEFT - 6, y(tick) + 4);
    }
    const starts = this.starts.filter(start => start > this.value(first, CODE) && start <= this.value(last - 1, CODE));
    if (starts.length <= MOST_KNOTS)
      for (const start of starts)
        this.line(paint, x(start - this.value(0, CODE)), top, x(start - this.value(0, CODE)), top + height, "rule");
    for (const [column, name] of series)
      this.steps(paint, y, column, color(name));
    this.line(paint, x(this.at + 0.5), top, x(this.at + 0.5), top + height, "accent");
    draw.textAlign = "left";
    let at = LEFT;
    for (const [words, name] of [[label, "soft"], ...series.map(([, name, words]) => [words, name])]) {
      draw.fillStyle = color(name);
      draw.fillText(words, at, top - 6);
      at += draw.measureText(`${words}   `).width;
    }
  }

  line({draw, color}, x0, y0, x1, y1, name) {
    draw.strokeStyle = color(name);
    draw.beginPath();
    draw.moveTo(x0, y0);
    draw.lineTo(x1, y1);
    draw.stroke();
  }

  // A level at each code, or in each column of pixels a line from the least value to the largest.
  steps({draw, x, first, last}, y, column, color) {
    const each = Math.max(1, Math.floor((last - first) / this.width));
    draw.strokeStyle = color;
    draw.beginPath();
    for (let i = first; i < last; i += each) {
      let low = Infinity, high = -Infinity;
      for (let k = i; k < Math.min(last, i + each); k++) {
        low = Math.min(low, this.value(k, column));
        high = Math.max(high, this.value(k, column));
      }
      draw.lineTo(Math.max(LEFT, x(i)), y(low));
      draw.lineTo(Math.min(LEFT + this.width, x(i + each)), y(high));
    }
    draw.stroke();
  }

  // Codes, and real x below them.
  axis({draw, x, color}, height) {
    const base = this.value(0, CODE);
    draw.fillStyle = color("soft");
    draw.textAlign = "center";
    for (const code of ticks(base + this.low, base + this.high - 1, Math.max(3, this.width / 110)))
      if (Number.isInteger(code)) {
        draw.fillText(code, x(code - base + 0.5), height - BOTTOM + 16);
        draw.fillText(`x ${number(this.value(code - base, X))}`, x(code - base + 0.5), height - BOTTOM + 31);
      }
  }
}
