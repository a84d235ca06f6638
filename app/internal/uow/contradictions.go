package uow

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/feedcontent"
	"causeway/core/rail"
	"causeway/ports"
)

// ContradictionItem returns the item of a contradiction, which is kept until a person closes it.
func ContradictionItem(id uuid.UUID, connection string, c rail.Contradiction, now time.Time) (ports.RailFeedItem, error) {
	content, err := feedcontent.Encode(c)
	return ports.RailFeedItem{ID: id, Platform: c.Platform, Connection: connection, Kind: ports.RailFeedContradiction,
		Key: c.Key(), Content: content,
		Problem: c.Problem, Attempts: 1, KeptAt: now, RetryAt: ports.Never}, err
}

// keepContradictions keeps each as an item of the connection of its payment, with what is recorded there.
func (w *Work) keepContradictions(ctx context.Context, tx Tx) error {
	if len(w.contradictions) == 0 {
		return nil
	}
	keys := make([]ports.RailPaymentKey, len(w.contradictions))
	for i, c := range w.contradictions {
		keys[i] = ports.RailPaymentKey{Platform: c.Platform, ID: c.Subject, Kind: c.Kind}
	}
	payments, err := tx.LockRailPayments(ctx, keys)
	if err != nil {
		return err
	}
	items := make([]ports.RailFeedItem, len(w.contradictions))
	for i, c := range w.contradictions {
		p := payments[keys[i]]
		c.Recorded.PartnerID = cmp.Or(c.Recorded.PartnerID, p.PartnerID)
		if c.Recorded.At.IsZero() {
			if c.Recorded.At = p.SettledAt; c.Recorded.State == string(rail.Returned) {
				c.Recorded.At = p.ReturnedAt
			}
		}
		if items[i], err = ContradictionItem(w.ids.New(w.Now), p.Connection, c, w.Now); err != nil {
			return err
		}
	}
	return tx.AddRailFeedItems(ctx, items)
}
