package partner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"causeway/core/money"
	"causeway/ports"
)

const (
	// MaxEvents is the limit of a request for events.
	MaxEvents = 100
	maxCursor = 200
)

// Poll asks the partner for its events, stores those that are new beside the ones it has sent by itself, and returns a
// piece of what is stored. So an event has one way into the service, however often and in whichever way it comes.
func (r *Rail) Poll(ctx context.Context, cursor string) (ports.RailReport, error) {
	position, err := parseCursor(cursor)
	if err != nil {
		return ports.RailReport{}, err
	}
	page, err := r.client.Events(ctx, position.partner, MaxEvents)
	if err == nil {
		err = r.store(ctx, page.Events)
	}
	if err != nil {
		// What the partner has sent by itself is returned even if it does not answer.
		err = fmt.Errorf("events of the partner: %w", err)
		page = EventPage{Cursor: position.partner}
	}
	stored, errStored := r.Events.PartnerEvents(ctx, r.Connection.Name, position.number, MaxEvents)
	if errStored != nil {
		return ports.RailReport{}, errStored
	}
	if err != nil && len(stored) == 0 {
		return ports.RailReport{}, err
	}
	if err != nil {
		r.log.WithError(err).Warn("partner does not list its events; those that it has sent are used")
	}
	report := ports.RailReport{More: page.More || len(stored) == MaxEvents}
	next := feedPosition{number: position.number, partner: page.Cursor}
	for _, s := range stored {
		if err := appendEvent(&report, s.Body); err != nil {
			return ports.RailReport{}, fmt.Errorf("stored event %s: %w", s.ID, err)
		}
		next.number = s.Number
	}
	report.Cursor = next.String()
	return report, nil
}

// store stores events, and logs those that are known with another content: the first one is kept.
func (r *Rail) store(ctx context.Context, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	stored := make([]ports.PartnerEvent, len(events))
	for i, e := range events {
		var err error
		if stored[i], err = storable(e); err != nil {
			return err
		}
	}
	differing, err := r.Events.SavePartnerEvents(ctx, r.Connection.Name, r.Clock.Now(), stored)
	for _, id := range differing {
		r.log.WithField("event", id).Error("partner has used the id of an event again, with other content; the first one is kept")
	}
	return err
}

// storable returns an event as it is stored: always the same text for the same content.
func storable(e Event) (ports.PartnerEvent, error) {
	body, err := json.Marshal(e)
	return ports.PartnerEvent{ID: e.ID, Body: body}, err
}

// feedPosition is the cursor of the feed: the number of the last stored event, and the cursor of the partner.
type feedPosition struct {
	number  int64
	partner string
}

func (p feedPosition) String() string { return strconv.FormatInt(p.number, 10) + ":" + p.partner }

func parseCursor(text string) (feedPosition, error) {
	if text == "" {
		return feedPosition{}, nil
	}
	number, partner, found := strings.Cut(text, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || n < 0 {
		return feedPosition{}, fmt.Errorf("the cursor %.40q is not one of a partner", text)
	}
	return feedPosition{n, partner}, nil
}

// Events returns at most limit events after a cursor of the partner, which were checked.
func (c *Client) Events(ctx context.Context, after string, limit int) (EventPage, error) {
	var page EventPage
	query := url.Values{"after": {after}, "limit": {strconv.Itoa(limit)}}
	if err := c.call(ctx, http.MethodGet, "/events", query, nil, &page, maxPage); err != nil {
		return page, err
	}
	switch {
	case len(page.Events) > limit:
		return page, fmt.Errorf("there are more than %d events, the limit of the request", limit)
	case !isToken(page.Cursor, maxCursor) || page.Cursor == "" && len(page.Events) > 0:
		return page, errors.New("cursor must have at most 200 printable ASCII characters, and some if there are events")
	case page.More && page.Cursor == after:
		return page, errors.New("there are more events, and the cursor is that of the request")
	}
	for _, e := range page.Events {
		if err := e.check(c.clock.Now()); err != nil {
			return page, fmt.Errorf("event %.200q: %w", e.ID, err)
		}
	}
	return page, nil
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
	if err := c.call(ctx, http.MethodGet, "/balances", nil, nil, &list, maxState); err != nil {
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
	if err := c.call(ctx, http.MethodGet, "/health", nil, nil, &h, maxState); err != nil {
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
	if _, err := r.client.Events(ctx, "", MaxEvents); err != nil {
		return checked, fmt.Errorf("GET /events: %w", err)
	}
	return append(checked, "events are listed"), nil
}
