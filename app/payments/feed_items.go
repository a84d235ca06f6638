package payments

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"causeway/app/internal/feedcontent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

const (
	// maxPieceFailures is how often a piece fails because of some of its items before these are kept aside.
	maxPieceFailures = 3
	// dueFeedItems is how many items that were kept aside are tried again after a feed was read.
	dueFeedItems = 200
	// minItemDelay and maxItemDelay are between two attempts of an item.
	minItemDelay = 10 * time.Second
	maxItemDelay = time.Hour
	// maxItemKey is the maximum length of the key of an item.
	maxItemKey = 500
)

// piece is a part of a feed while it is passed on.
type piece struct {
	ports.LiveConnection
	platforms []ident.Platform
	// givesUp: what fails because of itself is kept aside now, so that it does not block what follows.
	givesUp  bool
	aside    []ports.RailFeedItem
	failures []error
}

// errNoPlatform is the problem of money that is no platform's.
var errNoPlatform = errors.New("no platform is known for it: set the platform for unmatched money of the connection")

// rejected is an error of an item that will not be taken however often it is tried, unless something is changed.
type rejected struct{ error }

func reject(format string, args ...any) error { return rejected{fmt.Errorf(format, args...)} }

// failed records that an item could not be taken: it is kept aside if that is because of itself, and else the whole
// piece is read again.
func (p *piece) failed(now time.Time, item ports.RailFeedItem, content any, err error) error {
	var cannot rejected
	if !errors.As(err, &cannot) && (!p.givesUp || isOutage(err)) {
		if len(p.failures) < maxPieceFailures { // the first say why
			p.failures = append(p.failures, fmt.Errorf("%s %s: %w", item.Kind, item.Key, err))
		}
		return nil
	}
	encoded, jsonErr := feedcontent.Encode(content)
	if jsonErr != nil {
		return jsonErr
	}
	item.Connection, item.Content, item.Problem = p.Name, encoded, err.Error()
	item.Attempts, item.KeptAt, item.RetryAt = 1, now, now.Add(minItemDelay)
	if item.Key = itemKey(item.Key); item.Key == "" {
		item.Key = itemKey(string(encoded))
	}
	p.aside = append(p.aside, item)
	return nil
}

// itemKey returns a key as it is stored.
func itemKey(key string) string {
	if len(key) > maxItemKey {
		return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(key)))
	}
	return key
}

// isOutage reports whether an error is not about one item.
func isOutage(err error) bool {
	return fault.Is(err, fault.ServiceUnavailable) || errors.Is(err, ports.ErrStoreUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// keepAside stores what was kept aside, and returns why the piece has to be read again.
func (f *Feeds) keepAside(ctx context.Context, p *piece) error {
	if len(p.aside) > 0 {
		kept, err := f.Feeds.KeepRailFeedItems(ctx, p.aside)
		if err != nil {
			return errors.Join(append(p.failures, err)...)
		}
		for _, item := range kept {
			f.service.Log.WithField("connection", p.Name).WithField("kind", string(item.Kind)).WithField("item", item.ID.String()).WithField("place",
				item.Place).
				Errorf("kept aside what a partner reported: %s", item.Problem)
		}
	}
	return errors.Join(p.failures...)
}

// retryItems tries the items of a connection again that were kept aside and are due.
func (f *Feeds) retryItems(ctx context.Context, c ports.LiveConnection) error {
	items, err := f.Feeds.DueRailFeedItems(ctx, c.Name, f.service.Clock.Now(), dueFeedItems)
	if err != nil {
		return err
	}
	started := time.Now()
	for _, item := range items {
		if err := f.retry(ctx, c, []ports.RailFeedItem{item}); err != nil || time.Since(started) > maxRetryTime {
			return err
		}
	}
	return nil
}

func (f *Feeds) retry(ctx context.Context, c ports.LiveConnection, items []ports.RailFeedItem) error {
	for _, item := range items {
		err := f.takeItem(ctx, c, item)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ports.ErrStoreUnavailable): // not an attempt
			return err
		case err == nil:
			if err := f.Feeds.DeleteRailFeedItem(ctx, item); err != nil {
				return err
			}
			f.service.Log.WithField("connection", c.Name).WithField("item", item.ID.String()).Info("took what was kept aside")
			continue
		}
		item.Problem, item.Attempts = err.Error(), item.Attempts+1
		item.RetryAt = f.service.Clock.Now().Add(min(minItemDelay<<min(item.Attempts, 16), maxItemDelay))
		if err := f.Feeds.RetryRailFeedItem(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// takeItem tries one item again, in a piece of its own. It returns nil when it is taken.
func (f *Feeds) takeItem(ctx context.Context, c ports.LiveConnection, item ports.RailFeedItem) error {
	var report ports.RailReport
	var err error
	switch item.Kind {
	case ports.RailFeedReceipt:
		report.Receipts, err = one(item.Content, feedcontent.Receipt)
	case ports.RailFeedReversal:
		report.Reversals, err = one(item.Content, feedcontent.Reversal)
	case ports.RailFeedFee:
		report.Fees, err = one(item.Content, feedcontent.Fee)
	case ports.RailFeedStatement:
		report.Statements, err = one(item.Content, feedcontent.Statement)
	case ports.RailFeedEvent, ports.RailFeedFile:
		return f.takeRawAgain(ctx, c, item)
	default:
		err = fmt.Errorf("unknown kind %s", item.Kind)
	}
	if err != nil {
		return err
	}
	p, err := f.newPiece(ctx, c, 0)
	if err != nil {
		return err
	}
	if err := f.takeReport(ctx, p, report); err != nil {
		return err
	}
	for _, aside := range p.aside {
		if aside.Kind != ports.RailFeedContradiction { // it was taken, and says something to ask about
			return errors.New(aside.Problem)
		}
	}
	return f.keepAside(ctx, p)
}

// takeRaw keeps aside what the adapter could not understand.
func (f *Feeds) takeRaw(p *piece, reports []ports.RawReport) error {
	now := f.service.Clock.Now()
	for _, raw := range reports {
		item := ports.RailFeedItem{ID: f.service.IDs.New(now), Kind: raw.Kind, Key: raw.Key, Place: raw.Place}
		if err := p.failed(now, item, raw, rejected{errors.New(raw.Problem)}); err != nil {
			return err
		}
	}
	return nil
}

// takeRawAgain lets the adapter read a report again that it did not understand. What of it cannot be taken then is kept aside
// by itself.
func (f *Feeds) takeRawAgain(ctx context.Context, c ports.LiveConnection, item ports.RailFeedItem) error {
	reader, reads := c.Adapter.(ports.RawReportReader)
	if !reads {
		return fmt.Errorf("the adapter of the connection reads no reports of the kind %s", item.Kind)
	}
	raw := ports.RawReport{Kind: item.Kind, Key: item.Key, Place: item.Place}
	if err := json.Unmarshal(item.Content, &raw); err != nil {
		return err
	}
	report, err := callAdapter(ctx, func(ctx context.Context) (ports.RailReport, error) { return reader.ReadRaw(ctx, raw) })
	switch {
	case err != nil:
		return err
	case len(report.Raw) > 0:
		return errors.New(report.Raw[0].Problem)
	}
	return f.take(ctx, c, report, maxPieceFailures)
}

// one decodes the content of an item.
func one[T any](content []byte, decode func([]byte) (T, error)) ([]T, error) {
	item, err := decode(content)
	return []T{item}, err
}

// productionPlatforms returns the platforms in production.
func (s *Service) productionPlatforms(ctx context.Context) ([]ident.Platform, error) {
	const page = 500
	var found []ident.Platform
	for after := (ident.Platform{}); ; {
		platforms, err := s.Store.Platforms(ctx, after, page)
		if err != nil {
			return nil, err
		}
		for _, p := range platforms {
			if p.Environment == platform.Production {
				found = append(found, p.ID)
			}
			after = p.ID
		}
		if len(platforms) < page {
			return found, nil
		}
	}
}
