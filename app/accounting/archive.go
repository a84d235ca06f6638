package accounting

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/period"
)

// Archive removes a month of all platforms from the ledger and keeps it in tables of its own.
// Only the oldest month can be archived, long after its end and once nothing in it is open.
// From then on reports that need it return MONTH_ARCHIVED; balances and later months stay
// available. Fault: CONFLICT with every blocker.
func (s *Periods) Archive(ctx context.Context, m period.Month) error {
	now := s.Clock.Now()
	if from := m.ArchivableFrom(); now.Before(from) {
		return fault.New(fault.Conflict, "%s can be archived from %s on; until then its payments can be returned.", m, from.Format(time.DateOnly))
	}
	months, err := s.Archiver.LedgerMonths(ctx)
	if err != nil {
		return err
	}
	switch {
	case m == months.LastArchived:
		return fault.New(fault.Conflict, "%s is already archived.", m)
	case months.Oldest.IsZero() || m.Before(months.Oldest):
		return fault.New(fault.Conflict, "%s is not in the ledger.", m)
	case months.Oldest.Before(m):
		return fault.New(fault.Conflict, "Months are archived in order: archive %s before %s.", months.Oldest, m)
	}
	if err := s.Archiver.EndMonth(ctx, m, now); err != nil {
		return err
	}
	blockers, err := s.Archiver.Blockers(ctx, m)
	if err != nil {
		return err
	}
	if len(blockers) == 0 {
		return s.Archiver.ArchiveMonth(ctx, m)
	}
	var fields []fault.Field
	for _, b := range blockers {
		fields = append(fields, fault.Field{Field: b.Platform.String(), Message: b.Blocker.Message(b.Count)})
	}
	blocked := fault.New(fault.Conflict, "%s cannot be archived.", m)
	blocked.Fields = fields
	return blocked
}

// Archived returns the month that was archived last; zero if all are in the ledger.
func (s *Periods) Archived(ctx context.Context) (period.Month, error) {
	months, err := s.Archiver.LedgerMonths(ctx)
	return months.LastArchived, err
}

// Restore puts the month that was archived last back into the ledger. Fault: CONFLICT.
func (s *Periods) Restore(ctx context.Context, m period.Month) error {
	months, err := s.Archiver.LedgerMonths(ctx)
	if err != nil {
		return err
	}
	switch {
	case months.LastArchived.IsZero() || months.LastArchived.Before(m):
		return fault.New(fault.Conflict, "%s is not archived.", m)
	case m.Before(months.LastArchived):
		return fault.New(fault.Conflict, "Months are restored in reverse order: restore %s first.", months.LastArchived)
	}
	return s.Archiver.RestoreMonth(ctx, m)
}
