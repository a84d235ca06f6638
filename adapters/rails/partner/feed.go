package partner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"causeway/adapters/rails/feed"
	"causeway/core/money"
	"causeway/ports"
)

const (
	// MaxEvents is the limit of a request for events.
	MaxEvents = 100
	maxCursor = 200
)

// Poll asks the partner for its events, stores those that are new beside the ones it has sent by itself, and returns a
// piece of what is stored. So an event has one way into the service, however often and in whichever way it comes. An event
// that is not understood is returned as it came.
func (r *Rail) Poll(ctx context.Context, cursor string) (ports.RailReport, error) {
	if cursor == "" {
		cursor = "0:"
	}
	number, after, found := strings.Cut(cursor, ":") // the number of the last stored event, and the cursor of the partner
	if !found {
		return ports.RailReport{}, fmt.Errorf("the cursor %.40q is not one of a partner", cursor)
	}
	var page EventPage
	var raw []ports.RawReport
	var stored []ports.PartnerEvent
	var failure error
	report, err := feed.Poll(ctx, r.Connection.Name, number, MaxEvents, func(ctx context.Context) (more bool, err error) {
		if page, raw, failure = r.saveNew(ctx, after); failure != nil {
			// What the partner has sent by itself is returned even if it does not answer.
			page, raw, failure = EventPage{Cursor: after}, nil, fmt.Errorf("events of the partner: %w", failure)
		}
		return page.More, failure
	}, r.Events.PartnerEvents, func(report *ports.RailReport, s ports.PartnerEvent) int64 {
		appendEvent(report, s)
		stored = append(stored, s)
		return s.Number
	})
	if err != nil {
		return report, err
	}
	if failure != nil {
		r.log.WithError(failure).Warn("partner does not list its events; those that it has sent are used")
	}
	report.Raw, report.Cursor = append(raw, report.Raw...), report.Cursor+":"+page.Cursor
	unknown, err := r.unknownPayments(ctx, stored)
	report.Contradictions = append(report.Contradictions, unknown...)
	return report, err
}

// saveNew asks the partner for events, and stores those that are new.
func (r *Rail) saveNew(ctx context.Context, after string) (EventPage, []ports.RawReport, error) {
	page, raw, err := r.client.listEvents(ctx, after, MaxEvents, maxPage)
	if tooLarge := sizeError(0); errors.As(err, &tooLarge) { // because of one event, maybe: they are asked for one by one
		page, raw, err = r.client.listEvents(ctx, after, 1, maxEvent)
	}
	if err == nil {
		_, err = saveEvents(ctx, r.Events, r.Connection.Name, r.Clock.Now(), page.Events)
	}
	return page, raw, err
}

// rawEvent returns an event as it came. Its key has the id, if that can be read, and a digest of the content: two events are
// not taken for one because they have the same id.
func rawEvent(text []byte, id string, problem error) ports.RawReport {
	var compact bytes.Buffer
	if json.Compact(&compact, text) == nil {
		text = compact.Bytes()
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	raw := ports.RawReport{Kind: ports.RailFeedEvent, Key: sum, Place: "an event without a readable id", Problem: problem.Error(),
		Data: text[:min(len(text), ports.MaxRawReport)], Size: int64(len(text)), SHA256: sum}
	if id != "" && isToken(id, maxCursor) {
		raw.Key, raw.Place = id+"/"+sum, "event "+id
	}
	return raw
}

// ReadRaw implements ports.RawReportReader. An event that is understood is stored, and returned by Poll.
func (r *Rail) ReadRaw(ctx context.Context, raw ports.RawReport) (ports.RailReport, error) {
	var report ports.RailReport
	if raw.Size > maxPage { // not all of it was kept
		return report, eventTooLarge(raw.Size)
	}
	e, err := ParseEvent(raw.Data, r.Clock.Now())
	if err != nil {
		return report, err
	}
	_, err = saveEvents(ctx, r.Events, r.Connection.Name, r.Clock.Now(), []Event{e})
	return report, err
}

// Events returns at most limit events after a cursor of the partner, which were checked.
func (c *Client) Events(ctx context.Context, after string, limit int) (EventPage, error) {
	page, raw, err := c.listEvents(ctx, after, limit, maxPage)
	switch {
	case err != nil:
	case len(page.Events)+len(raw) > limit:
		err = fmt.Errorf("there are more than %d events, the limit of the request", limit)
	case len(raw) > 0:
		err = fmt.Errorf("%s: %s", raw[0].Place, raw[0].Problem)
	}
	return page, err
}

// rawPage is an EventPage whose events are read one by one.
type rawPage struct {
	Events []json.RawMessage `json:"events"`
	Cursor string            `json:"cursor"`
	More   bool              `json:"more"`
}

// eventTooLarge is the problem of an event that is not read.
func eventTooLarge(size int64) error {
	return fmt.Errorf("the event has %d bytes, and at most %d are read: have the partner or its sidecar corrected", size, maxPage)
}

// listEvents returns the events after a cursor that were understood, and the others as they came.
func (c *Client) listEvents(ctx context.Context, after string, limit int,
	maxBytes int64) (page EventPage, raw []ports.RawReport, err error) {
	var list rawPage
	query := url.Values{"after": {after}, "limit": {strconv.Itoa(limit)}}
	if err := c.call(ctx, http.MethodGet, "/events", query, nil, &list, maxBytes, ""); err != nil {
		return page, nil, err
	}
	switch {
	case !isToken(list.Cursor, maxCursor) || list.Cursor == "" && len(list.Events) > 0:
		return page, nil, errors.New("cursor must have at most 200 printable ASCII characters, and some if there are events")
	case list.More && list.Cursor == after:
		return page, nil, errors.New("there are more events, and the cursor is that of the request")
	}
	page.Cursor, page.More = list.Cursor, list.More
	now := c.clock.Now()
	for _, text := range list.Events {
		var e Event
		err := eventTooLarge(int64(len(text)))
		if len(text) <= maxPage {
			e, err = ParseEvent(text, now)
		}
		if err != nil {
			var named struct {
				ID string `json:"id"`
			}
			_ = json.Unmarshal(text, &named) // without an id, it is known by its content
			raw = append(raw, rawEvent(text, named.ID, err))
			continue
		}
		page.Events = append(page.Events, e)
	}
	return page, raw, nil
}

func isToken(text string, most int) bool {
	return len(text) <= most && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Balances asks for the balances of the account.
func (r *Rail) Balances(ctx context.Context) ([]ports.RailBalance, error) {
	list, err := r.client.Balances(ctx)
	if err != nil {
		return nil, fmt.Errorf("balances of the partner: %w", err)
	}
	return list, nil
}

// Balances returns the balances of the account, which were checked.
func (c *Client) Balances(ctx context.Context) ([]ports.RailBalance, error) {
	var list BalanceList
	if err := c.call(ctx, http.MethodGet, "/balances", nil, nil, &list, maxState, ""); err != nil {
		return nil, err
	}
	balances := make([]ports.RailBalance, 0, len(list.Balances))
	seen := map[money.Currency]bool{}
	for _, b := range list.Balances {
		amount, err := b.Amount.amount()
		switch {
		case err != nil:
			return nil, err
		case seen[amount.Currency]:
			return nil, fmt.Errorf("%s has two balances", amount.Currency)
		case !isTime(b.At, c.clock.Now()):
			return nil, errors.New("at of a balance is missing, before 2000 or in the future")
		}
		seen[amount.Currency] = true
		balances = append(balances, ports.RailBalance{Amount: amount, At: b.At})
	}
	return balances, nil
}

// Health asks the sidecar what it is.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	if err := c.call(ctx, http.MethodGet, "/health", nil, nil, &h, maxState, ""); err != nil {
		return h, err
	}
	if h.Name == "" || !isText(h.Name, 100) || !isText(h.Version, 100) || !isText(h.Text, 500) {
		return h, errors.New("name is required, and name, version and text are short texts")
	}
	return h, nil
}

// Test asks for the health, the balances and the events of the partner. It moves nothing and stores nothing.
func (r *Rail) Test(ctx context.Context) (checked []string, err error) {
	health, err := r.client.Health(ctx)
	if err != nil {
		return checked, fmt.Errorf("GET /health: %w", err)
	}
	checked = append(checked, strings.TrimSpace(fmt.Sprintf("the sidecar answers: %s %s %s", health.Name, health.Version, health.Text)))
	balances, err := r.client.Balances(ctx)
	if err != nil {
		return checked, fmt.Errorf("GET /balances: %w", err)
	}
	for _, b := range balances {
		checked = append(checked, fmt.Sprintf("the account holds %s", b.Amount))
	}
	if len(balances) == 0 {
		checked = append(checked, "the account has no balances")
	}
	_, raw, err := r.client.listEvents(ctx, "", MaxEvents, maxPage)
	if err != nil {
		return checked, fmt.Errorf("GET /events: %w", err)
	}
	for _, event := range raw {
		checked = append(checked, fmt.Sprintf("%s is not understood, and is kept aside: %s", event.Place, event.Problem))
	}
	return append(checked, "events are listed"), nil
}
