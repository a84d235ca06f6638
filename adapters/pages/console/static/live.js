// Adds events to the list as they happen. Without it, the page shows those of the moment at which it was loaded.
(() => {
  const list = document.getElementById("events"), state = document.getElementById("live");
  const maxRows = 200;
  const say = (text) => { state.textContent = text; };
  const source = new EventSource(list.dataset.stream);
  source.onopen = () => say("New ones appear by themselves.");
  source.onerror = () => say(source.readyState === EventSource.CLOSED ? "Load the page again to see new ones." : "The connection was lost. Trying again.");
  source.onmessage = (message) => {
    const event = JSON.parse(message.data);
    if (document.getElementById("e-" + event.ID)) return;
    const row = document.createElement("tr"), time = document.createElement("time"), link = document.createElement("a");
    row.id = "e-" + event.ID;
    time.dateTime = event.At;
    time.textContent = event.Time;
    time.title = event.At.slice(0, 19).replace("T", " ") + " UTC";
    link.href = event.Link;
    link.textContent = event.Name;
    for (const part of [time, link, event.Status]) row.insertCell().append(part);
    row.cells[0].className = "time";
    list.prepend(row);
    while (list.rows.length > maxRows) list.lastElementChild.remove();
  };
})();
