"use strict";
// Every specification stands next to the place it is drawn in. Charts are drawn as SVG: sharp in print, and text stays text.
(function () {
  const ink = "#222222";
  const narrow = window.innerWidth < 520;  // there long labels would leave no room for the chart, and long titles leave the page
  const font = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', sans-serif";
  const config = {
    background: "transparent",
    font: font,
    view: { stroke: null },
    axis: { labelColor: ink, titleColor: ink, titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 12,
            gridColor: "#e4e4e4", domainColor: "#999999", tickColor: "#999999", labelOverlap: true, labelFlush: false,
            titleLimit: narrow ? 185 : 340 },
    axisQuantitative: { labelSeparation: 6 },
    axisTemporal: { labelSeparation: 6 },
    axisY: { labelLimit: narrow ? 135 : 200 },
    text: { font: font },
    bar: { discreteBandSize: { band: 0.8 } },
  };
  const options = { mode: "vega-lite", renderer: "svg", actions: false, config: config,
                    ast: true };  // expressions are interpreted: the page's policy lets no text become code

  // Slanted labels below a chart reach to its left, where a narrow page ends: there they stand upright.
  function upright(part) {
    if (part === null || typeof part !== "object") return;
    if (part.labelAngle) part.labelAngle = -90;
    Object.values(part).forEach(upright);
  }

  function draw(figure) {
    const place = figure.querySelector(".chart");
    const spec = JSON.parse(figure.querySelector(".spec").textContent);
    if (narrow) upright(spec);
    return vegaEmbed(place, spec, options).catch(function (error) {
      place.textContent = "This chart could not be drawn; its figures are below. (" + error.message + ")";
      console.error(error);
    });
  }

  // No line breaks within a number: before a percent sign, at a ±, or within an interval.
  const inside = /\([<> \d.]+ to [<> \d.]+ %\)|\d %| ± |[<>] \d/g;
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (texts.currentNode.parentElement.closest("script, pre, dd")) continue;
    texts.currentNode.data = texts.currentNode.data.replace(inside, function (number) { return number.replaceAll(" ", "\u00a0"); });
  }

  const drawn = Array.from(document.querySelectorAll("figure")).map(draw);
  Promise.all(drawn).then(function () { document.body.dataset.drawn = String(drawn.length); });
})();
