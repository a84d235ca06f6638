package rails

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/bankorder"
	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/ports"
)

// Items returns what partners reported and could not be taken, of one connection or of all, the oldest first, without
// the contents.
func (s *Service) Items(ctx context.Context, connection string, limit int) ([]ports.RailFeedItem, error) {
	return s.Feeds.RailFeedItems(ctx, connection, limit)
}

// Item returns one with its content, also if it was discarded. It returns INVALID_INPUT if there is none.
func (s *Service) Item(ctx context.Context, id uuid.UUID) (ports.RailFeedItem, error) {
	item, found, err := s.Feeds.RailFeedItem(ctx, id)
	if err == nil && !found {
		err = fault.New(fault.InvalidInput, "There is no report %s; one that was taken is gone. List the others with: causeway rails inbox list",
			id)
	}
	return item, err
}

// RetryItem makes an item due: the process that reads the feed tries it again within seconds.
func (s *Service) RetryItem(ctx context.Context, id uuid.UUID) (ports.RailFeedItem, error) {
	item, err := s.Item(ctx, id)
	if err != nil {
		return item, err
	}
	if item.DiscardedBy != "" {
		return item, fault.New(fault.InvalidInput, "Nothing was changed: %s has discarded the report.", item.DiscardedBy)
	}
	if item.Kind == ports.RailFeedContradiction {
		return item, fault.New(fault.InvalidInput, "Nothing was changed: the partner contradicts itself, and a repetition does not settle "+
			"that. Ask it, post what is missing as an adjustment, and discard the report.")
	}
	item.RetryAt = s.Clock.Now()
	return item, s.Feeds.RetryRailFeedItem(ctx, item)
}

// DiscardItem ends an item that will never be taken.
func (s *Service) DiscardItem(ctx context.Context, id uuid.UUID, by Author) (ports.RailFeedItem, error) {
	by, err := by.check()
	if err != nil {
		return ports.RailFeedItem{}, err
	}
	item, err := s.Item(ctx, id)
	if err != nil {
		return item, err
	}
	done, err := s.Feeds.DiscardRailFeedItem(ctx, id, by.author(), by.Note, s.Clock.Now())
	if err == nil && !done {
		err = fault.New(fault.InvalidInput, "Nothing was changed: the report was taken or discarded meanwhile.")
	}
	return item, err
}

// QueuedStatements returns the statements of partners that wait to be reconciled, of one connection or of all, the oldest
// first, without the contents.
func (s *Service) QueuedStatements(ctx context.Context, connection string, limit int) ([]ports.QueuedStatement, error) {
	return s.Statements.RailStatements(ctx, connection, limit)
}

// QueuedStatement returns one with its content, which ends with the reconciliation. It returns INVALID_INPUT if there is none.
func (s *Service) QueuedStatement(ctx context.Context, id uuid.UUID) (ports.QueuedStatement, error) {
	statement, found, err := s.Statements.RailStatement(ctx, id)
	if err == nil && !found {
		err = fault.New(fault.InvalidInput, "There is no statement %s. List those that wait with: causeway rails statements list", id)
	}
	return statement, err
}

// RetryStatement makes a statement due: it is reconciled within a minute.
func (s *Service) RetryStatement(ctx context.Context, id uuid.UUID) (ports.QueuedStatement, error) {
	statement, err := s.QueuedStatement(ctx, id)
	switch {
	case err != nil:
		return statement, err
	case !statement.ReconciledAt.IsZero() || statement.DiscardedBy != "":
		return statement, fault.New(fault.InvalidInput, "Nothing was changed: the statement was reconciled or discarded.")
	case statement.Problem == "":
		return statement, fault.New(fault.InvalidInput, "Nothing was changed: the statement was not refused, and is reconciled within a minute.")
	}
	return statement, s.Statements.RailStatementFailed(ctx, statement, statement.Problem, s.Clock.Now())
}

// DiscardStatement ends a statement that will never be reconciled.
func (s *Service) DiscardStatement(ctx context.Context, id uuid.UUID, by Author) (ports.QueuedStatement, error) {
	by, err := by.check()
	if err != nil {
		return ports.QueuedStatement{}, err
	}
	statement, err := s.QueuedStatement(ctx, id)
	if err != nil {
		return statement, err
	}
	done, err := s.Statements.DiscardRailStatement(ctx, id, by.author(), by.Note, s.Clock.Now())
	if err == nil && !done {
		err = fault.New(fault.InvalidInput, "Nothing was changed: the statement was reconciled or discarded.")
	}
	return statement, err
}

// Notices returns what is to be looked at in the files of a connection to a bank, newest first. It returns INVALID_INPUT if
// there is no such connection.
func (s *Service) Notices(ctx context.Context, name string, limit int) ([]bankorder.KeptNotice, error) {
	shown, err := s.Show(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case shown.Adapter != rail.BankFile:
		return nil, fault.New(fault.InvalidInput, "%s has no files of a bank: its adapter is %s.", name, shown.Adapter)
	}
	return s.BankNotices.Notices(ctx, name, limit)
}
