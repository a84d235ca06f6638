package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// eventsPage lists the latest events, and gets new ones as they happen.
type eventsPage struct {
	page
	Items []ports.Delivery
	Older string // the address of the next page
	// Stream is where new events come from; empty on a page that is not the first.
	Stream string
}

func (c *Console) eventRoutes() []platformRoute {
	return []platformRoute{
		{http.MethodGet, "/events", person.View, c.showEvents},
		{http.MethodGet, "/events/stream", person.View, c.streamEvents},
	}
}

func (c *Console) showEvents(r *request) error {
	data := eventsPage{page: c.page(r, "Events", "events")}
	f := ports.DeliveryFilter{Limit: pageSize}
	f.After.SetUUID(after(r.URL.Query()))
	found, err := c.Webhooks.Deliveries(r.Context(), r.platform.ID, f)
	if err != nil {
		return err
	}
	data.Items = found.Items
	data.Older = older(r, found.More, found.Items, func(d ports.Delivery) string { return pathOfID(d.ID) })
	if f.After.IsZero() {
		data.Stream = data.Base + "/events/stream?until=" + strconv.FormatInt(c.Clock.Now().Add(watchTime).Unix(), 10)
		if len(found.Items) > 0 {
			data.Stream += "&after=" + pathOfID(found.Items[0].ID)
		}
	}
	c.site.AllowScript(r.w.Header())
	return c.render(r, http.StatusOK, "events.html", data)
}

const (
	// maxStreams is how many people watch events at once on one process.
	maxStreams = 50
	// streamInterval is how often new events are read, and sessionInterval how often the session is checked.
	streamInterval  = 2 * time.Second
	sessionInterval = 10 * time.Second
	// streamTime is how long one stream is; the browser asks for the next one. A page that nobody has loaded again for watchTime gets no
	// further one, because each keeps the session in use.
	streamTime = 5 * time.Minute
	watchTime  = time.Hour
	// lateCommit is how long after its id was made an event may be committed.
	lateCommit = 20 * time.Second
	// maxRead is how many events are read at once, and maxReads how often before the stream waits again.
	maxRead, maxReads = 200, 10
)

// streamedEvent is what a stream says of an event. It has no personal data.
type streamedEvent struct {
	At, Time, Name, Status, Link, ID string
}

// streamEvents sends events as they happen, until the session, the process or the page ends. It goes on after the last event that the
// browser has, if it says which.
func (c *Console) streamEvents(r *request) error {
	until, err := strconv.ParseInt(r.URL.Query().Get("until"), 10, 64)
	if err != nil || !c.Clock.Now().Before(time.Unix(until, 0)) {
		r.w.WriteHeader(http.StatusNoContent) // which tells the browser to ask no more
		return nil
	}
	select {
	case c.streams <- struct{}{}:
		defer func() { <-c.streams }()
	default:
		return &problem{http.StatusServiceUnavailable, "Too many people watch", "Load the page again to see new events."}
	}
	ctx, cancel := context.WithTimeout(ports.ForPlatform(r.client, r.platform.ID), streamTime)
	defer cancel()
	s := eventStream{c: c, r: r, controller: http.NewResponseController(r.w), sent: map[ident.Webhook]bool{}}
	s.last.SetUUID(after(r.URL.Query()))
	if last, err := ident.ParseWebhook(ident.Webhook{}.Prefix() + ":" + r.Header.Get("Last-Event-ID")); err == nil {
		s.last = last
	}
	s.sent[s.last] = true
	_ = s.controller.SetReadDeadline(time.Time{}) // the request has been read
	r.w.Header().Set("Content-Type", "text/event-stream")
	r.w.Header().Set("X-Accel-Buffering", "no") // for nginx
	r.w.WriteHeader(http.StatusOK)
	s.run(ctx)
	return nil
}

// eventStream is the stream of one page.
type eventStream struct {
	c          *Console
	r          *request
	controller *http.ResponseController
	// last is the newest event that was sent, and sent are those that were sent and may still be read again.
	last ident.Webhook
	sent map[ident.Webhook]bool
}

func (s *eventStream) run(ctx context.Context) {
	tick := time.NewTicker(streamInterval)
	defer tick.Stop()
	checked := time.Now()
	for s.write("retry: 2000\n\n"); ; {
		if !s.sendNew(ctx) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-s.c.Stopping:
			return
		}
		if time.Since(checked) < sessionInterval {
			continue
		}
		checked = time.Now()
		in, err := s.c.People.Session(ctx, s.r.secret)
		if err != nil || !in.Person.May(person.View, s.r.platform.ID) || !s.write(": still here\n\n") {
			return
		}
	}
}

// sendNew sends the events that were committed since the last call, and reports whether the stream goes on. Ids are in the order of
// their times and not of their commits, so those of a short time before the last one are read again.
func (s *eventStream) sendNew(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	seconds, nanoseconds := s.last.UUID().Time().UnixTime()
	from := time.Unix(seconds, nanoseconds).Add(-lateCommit)
	if s.last.IsZero() {
		from = s.c.Clock.Now().Add(-lateCommit)
	}
	f := ports.DeliveryFilter{Limit: maxRead, Ascending: true}
	f.Created.From = from
	read := map[ident.Webhook]bool{}
	for page := 0; page < maxReads; page++ {
		found, err := s.c.Webhooks.Deliveries(ctx, s.r.platform.ID, f)
		if err != nil || !s.send(found.Items, read) {
			return false // the browser asks again
		}
		if !found.More {
			break
		}
		f.After = found.Items[len(found.Items)-1].ID
	}
	read[s.last] = true
	s.sent = read
	return true
}

// send sends those of some events that were not sent before, and reports whether the reader is still there.
func (s *eventStream) send(events []ports.Delivery, read map[ident.Webhook]bool) bool {
	for _, d := range events {
		read[d.ID] = true
		if s.sent[d.ID] {
			continue
		}
		body, err := json.Marshal(streamedEvent{rfc3339(d.Created), s.r.zone().moment(d.Created), d.Name, lower(d.Status),
			basePath(d.Platform) + "/webhooks/" + pathOfID(d.ID),
			pathOfID(d.ID)})
		if err != nil || !s.write(fmt.Sprintf("id: %s\ndata: %s\n\n", pathOfID(d.ID), body)) {
			return false
		}
		if s.last.IsZero() || d.ID.String() > s.last.String() {
			s.last = d.ID
		}
	}
	return true
}

// write sends a text, and reports whether the reader is still there.
func (s *eventStream) write(text string) bool {
	_ = s.controller.SetWriteDeadline(time.Now().Add(stallTimeout))
	if _, err := s.r.w.Write([]byte(text)); err != nil {
		return false
	}
	return s.controller.Flush() == nil
}
