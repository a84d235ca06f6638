package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"causeway/adapters/rails/partner"
)

// eventList is what was listed since the beginning of the tests.
type eventList struct {
	begun         bool
	start, cursor string
	events        []partner.Event
}

// maxPages bounds what is read in one go.
const maxPages = 10_000

// checkEvents reads what was listed before the tests, so that they begin with an own cursor.
func (s *Suite) checkEvents(ctx context.Context) error {
	cursor := ""
	for range maxPages {
		page, err := s.client.Events(ctx, cursor, partner.MaxEvents)
		if err != nil {
			return describe(err, "GET /events")
		}
		cursor = page.Cursor
		if !page.More {
			s.events = eventList{begun: true, start: cursor, cursor: cursor}
			return nil
		}
	}
	return fmt.Errorf("there are still more events after %d pages", maxPages)
}

// readEvents reads on.
func (s *Suite) readEvents(ctx context.Context) error {
	if !s.events.begun {
		if err := s.checkEvents(ctx); err != nil {
			return err
		}
	}
	for range maxPages {
		page, err := s.client.Events(ctx, s.events.cursor, partner.MaxEvents)
		if err != nil {
			return describe(err, "GET /events")
		}
		s.events.events = append(s.events.events, page.Events...)
		s.events.cursor = page.Cursor
		if !page.More {
			return nil
		}
	}
	return fmt.Errorf("there are still more events after %d pages", maxPages)
}

// awaitEvent waits for an event.
func (s *Suite) awaitEvent(ctx context.Context, what string, matches func(partner.Event) bool) (partner.Event, error) {
	found := -1
	listed, err := s.await(ctx, func(ctx context.Context) (bool, error) {
		if err := s.readEvents(ctx); err != nil {
			return false, err
		}
		found = slices.IndexFunc(s.events.events, matches)
		return found >= 0, nil
	})
	switch {
	case err != nil:
		return partner.Event{}, err
	case !listed:
		return partner.Event{}, fmt.Errorf("no event %s is listed after %s", what, s.Timeout)
	}
	return s.events.events[found], nil
}

func (s *Suite) checkPaymentEvents(ctx context.Context) error {
	wanted := []struct {
		testValue
		status partner.Status
	}{{settles, partner.Settled}, {rejectsLater, partner.Rejected}, {returns, partner.Returned}}
	if s.Kinds[0] == partner.Refund {
		wanted = wanted[:2]
	}
	for _, w := range wanted {
		t, err := s.submit(ctx, w.testValue)
		if err != nil {
			return err
		}
		e, err := s.awaitEvent(ctx, fmt.Sprintf("PAYMENT about a payment that %s, with the status %s,", w.name, w.status),
			func(e partner.Event) bool {
				return e.Payment != nil && e.Payment.ID == t.ID && e.Payment.Status == w.status
			})
		switch {
		case err != nil:
			return err
		case e.Payment.Kind != t.Kind || e.Payment.PlatformID != t.PlatformID:
			return errors.New("kind or platformId differ from the request")
		}
	}
	return nil
}

// received returns the event with a receipt of the amount and the reference of a payment.
func (s *Suite) receipt(ctx context.Context, v testValue) (partner.Event, error) {
	t, err := s.submit(ctx, v)
	if err != nil {
		return partner.Event{}, err
	}
	e, err := s.awaitEvent(ctx, fmt.Sprintf("RECEIPT with the reference %s", t.Reference), func(e partner.Event) bool {
		return e.Receipt != nil && e.Receipt.Reference == t.Reference
	})
	if err == nil && e.Receipt.Amount != t.Amount {
		err = fmt.Errorf("the receipt is of %d, and not of %d", e.Receipt.Amount.Minor, t.Amount.Minor)
	}
	return e, err
}

func (s *Suite) checkReceipt(ctx context.Context) error { return orError(s.receipt(ctx, receives)) }

func (s *Suite) checkReversal(ctx context.Context) error {
	receipt, err := s.receipt(ctx, reverses)
	if err != nil {
		return err
	}
	e, err := s.awaitEvent(ctx, fmt.Sprintf("REVERSAL with the receiptId %s", receipt.Receipt.PartnerID), func(e partner.Event) bool {
		return e.Reversal != nil && e.Reversal.ReceiptID == receipt.Receipt.PartnerID
	})
	if err == nil && e.Reversal.Rail != receipt.Receipt.Rail {
		err = errors.New("its rail is not that of the receipt")
	}
	return err
}

func (s *Suite) checkFee(ctx context.Context) error {
	if _, err := s.submit(ctx, charges); err != nil {
		return err
	}
	_, err := s.awaitEvent(ctx, "FEE", func(e partner.Event) bool { return e.Fee != nil })
	return err
}

func (s *Suite) checkEventIDs(ctx context.Context) error {
	if err := s.someEvents(ctx); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range s.events.events {
		if seen[e.ID] {
			return fmt.Errorf("the id %q has more than one event", e.ID)
		}
		seen[e.ID] = true
	}
	return nil
}

// someEvents reads on, and returns an error if nothing was listed.
func (s *Suite) someEvents(ctx context.Context) error {
	err := s.readEvents(ctx)
	if err == nil && len(s.events.events) < 2 {
		err = errors.New("not tested: there are less than two events")
	}
	return err
}

func (s *Suite) checkCursor(ctx context.Context) error { return s.sameEvents(ctx, partner.MaxEvents) }

func (s *Suite) checkLimit(ctx context.Context) error { return s.sameEvents(ctx, 1) }

// sameEvents lists all events of the tests again, some at a time.
func (s *Suite) sameEvents(ctx context.Context, limit int) error {
	if err := s.someEvents(ctx); err != nil {
		return err
	}
	cursor, n := s.events.start, 0
	for n < len(s.events.events) {
		page, err := s.client.Events(ctx, cursor, limit)
		if err != nil {
			return describe(err, "GET /events with the limit %d", limit)
		}
		for _, e := range page.Events {
			if n < len(s.events.events) && !isSame(e, s.events.events[n]) {
				return fmt.Errorf("event %d is %q, and was %q before, or has other content", n+1, e.ID, s.events.events[n].ID)
			}
			n++
		}
		if len(page.Events) == 0 || !page.More {
			break
		}
		cursor = page.Cursor
	}
	if n < len(s.events.events) {
		return fmt.Errorf("only %d of the %d events that were listed before are listed again", n, len(s.events.events))
	}
	return nil
}

// isSame reports whether two events have the same content.
func isSame(a, b partner.Event) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
