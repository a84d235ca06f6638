package accounting

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/period"
)

// Archive takes a month of all platforms out of the books: the oldest that is in them, long
// after its end, once nothing of it is open any more. Reports that need it are refused from
// then on; balances and what came later stay as they are. It is the operator's.
//
// Faults: CONFLICT, with everything that stands in its way.
func (s *Periods) Archive(ctx context.Context, m period.Month) error {
	now := s.Clock.Now()
	if from := m.ArchivableFrom(); now.Before(from) {
		return fault.New(fault.Conflict, "%s can be detached from %s on; until then its payments may come back.", m, from.Format(time.DateOnly))
	}
	of, err := s.Archiver.LedgerMonths(ctx)
	if err != nil {
		return err
	}
	switch {
	case of.Oldest.IsZero() || m.Before(of.Oldest):
		return fault.New(fault.Conflict, "%s is not in the books.", m)
	case of.Oldest.Before(m):
		return fault.New(fault.Conflict, "Months are detached in their order, and %s comes before %s.", of.Oldest, m)
	}
	if err := s.Archiver.EndMonth(ctx, m, now); err != nil {
		return err
	}
	found, err := s.Archiver.Blockers(ctx, m)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return s.Archiver.ArchiveMonth(ctx, m)
	}
	var fields []fault.Field
	for _, h := range found {
		fields = append(fields, fault.Field{Field: h.Platform.String(), Message: h.Blocker.Message(h.Count)})
	}
	refused := fault.New(fault.Conflict, "%s cannot be detached.", m)
	refused.Fields = fields
	return refused
}

// Restore brings a month back: the one that was detached last. Fault: CONFLICT.
func (s *Periods) Restore(ctx context.Context, m period.Month) error {
	of, err := s.Archiver.LedgerMonths(ctx)
	if err != nil {
		return err
	}
	switch {
	case of.LastArchived.IsZero() || of.LastArchived.Before(m):
		return fault.New(fault.Conflict, "%s is not detached.", m)
	case m.Before(of.LastArchived):
		return fault.New(fault.Conflict, "Months are attached in their order, the latest first, and that is %s.", of.LastArchived)
	}
	return s.Archiver.RestoreMonth(ctx, m)
}
