package exports

import (
	"context"
	"fmt"
	"io"
	"time"

	"causeway/app/exports/camt053"
	"causeway/core/fault"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// writeCamt053 writes a statement for each account and day with entries.
func writeCamt053(ctx context.Context, out io.Writer, j exportJob) error {
	owner, err := j.store.Platform(ctx, j.platform)
	if err != nil {
		return err
	}
	var message *camt053.Message
	// The holders of a batch of accounts are kept while those of their entries are read.
	owners := newHolders(j.store, j.platform, j.holders.names)
	accounts := func(each func(ports.AccountTurnover) error) error { return j.view.Accounts(ctx, j.filter, each) }
	err = withHolders(ctx, owners, accounts, pathOf, func(t ports.AccountTurnover) (err error) {
		if !camt053.Supports(t.Account.Currency) || t.Debits.Count+t.Credits.Count == 0 {
			return nil
		}
		if message == nil {
			message = camt053.New(out, j.header(), camt053.Parties{Platform: owner.Name, Servicer: j.servicer, Holder: j.holders.of})
		}
		j.progress(0, -1) // the number of accounts is unknown
		return j.writeDays(ctx, message, t, owners.of(t.Account.Path))
	})
	if err != nil {
		return err
	}
	if message == nil {
		return fault.Invalid(fault.Field{Field: "format",
			Message: "camt053 only has accounts in ISO 4217 currencies, and none had entries in that period; choose another period or format"})
	}
	return message.End()
}

// maxSortedEntries is the number of entries above which the days of an account are read in several
// queries. A day is never divided.
const maxSortedEntries = 1_000_000

// writeDays writes the statements of an account.
func (j exportJob) writeDays(ctx context.Context, m *camt053.Message, t ports.AccountTurnover, owner ports.AccountHolder) error {
	statements, err := j.statements(ctx, t)
	if err != nil {
		return err
	}
	// The day of an entry decides to which statement it belongs.
	n, begun := 0, false
	end := func() error {
		n, begun = n+1, false
		return m.EndStatement()
	}
	write := func(e ports.RecordedEntry) error {
		if begun && !e.Effective.Before(statements[n].End()) {
			if err := end(); err != nil {
				return err
			}
		}
		if n == len(statements) || !e.Effective.Before(statements[n].End()) {
			return fmt.Errorf("statement of %s: entry %d.%d is on a day without turnover", t.Account, e.Position.Seq, e.Position.N)
		}
		if !begun {
			begun = true
			if err := m.BeginStatement(statements[n], owner); err != nil {
				return err
			}
		}
		return m.AddEntry(e)
	}
	for first := 0; first < len(statements); {
		last, entries := first, statements[first].Entries()
		for last+1 < len(statements) && entries+statements[last+1].Entries() <= maxSortedEntries {
			last++
			entries += statements[last].Entries()
		}
		span := period.Interval{From: statements[first].Day, To: statements[last].End()}
		if from := j.filter.From; from.After(span.From) {
			span.From = from
		}
		if to := j.filter.To; !to.IsZero() && to.Before(span.To) {
			span.To = to
		}
		stream := func(each func(ports.RecordedEntry) error) error {
			return j.view.EntriesByEffectiveTime(ctx, []ledger.Account{t.Account}, span,
				func(_ ledger.Account, e ports.RecordedEntry) error { return each(e) })
		}
		if j.holders.names {
			err = withHolders(ctx, j.holders, stream, pathsOf, write)
		} else {
			err = stream(write)
		}
		if err != nil {
			return err
		}
		first = last + 1
	}
	if begun {
		err = end()
	}
	if err == nil && n != len(statements) {
		err = fmt.Errorf("statement of %s: entries of %s are missing", t.Account, statements[n].Day.Format(time.DateOnly))
	}
	return err
}

// statements returns the statements of an account, one for each day with entries in the period. Each
// begins with the closing balance of the one before. They are numbered from 1 in every year; those of a
// year of which a month is archived have no numbers.
func (j exportJob) statements(ctx context.Context, t ports.AccountTurnover) ([]camt053.Statement, error) {
	list, err := j.readDays(ctx, t, startOfYear(j.filter.From), true)
	if fault.Is(err, fault.MonthArchived) {
		list, err = j.readDays(ctx, t, j.filter.From, false)
	}
	if err != nil {
		return nil, err
	}
	closing := t.Opening
	if len(list) > 0 {
		closing = list[len(list)-1].Closing()
	}
	if closing != t.Closing {
		return nil, fmt.Errorf("statement of %s: the days add up to %d, but the balance is %d", t.Account, closing, t.Closing)
	}
	return list, nil
}

// readDays returns the statements of an account, numbered if all days since the start of the year of the
// first are read.
func (j exportJob) readDays(ctx context.Context, t ports.AccountTurnover, since time.Time,
	numbered bool) (list []camt053.Statement, err error) {
	opening, year, number := t.Opening, 0, 0
	err = j.view.Days(ctx, t.Account, since, j.filter.Interval, func(d ports.DayTurnover) error {
		if d.Day.Year() != year {
			year, number = d.Day.Year(), 0
		}
		number++
		if d.Debits.Count+d.Credits.Count == 0 {
			return nil // before the period
		}
		s := camt053.Statement{DayTurnover: d, Account: t.Account, Opening: opening, From: d.Day}
		if numbered {
			s.Number = number
		}
		if s.From.Before(j.filter.From) {
			s.From = j.filter.From
		}
		s.To = s.End().Add(-time.Microsecond)
		if last := j.filter.Last(); !last.IsZero() && last.Before(s.To) {
			s.To = last
		}
		if recorded := j.view.LastPosting().Recorded; recorded.Before(s.To) { // the day is not over
			if s.To = recorded; s.To.Before(d.Last) {
				s.To = d.Last
			}
		}
		opening = s.Closing()
		list = append(list, s)
		return nil
	})
	return list, err
}

// startOfYear returns the start of the year of a time in UTC; zero for the zero time.
func startOfYear(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return time.Date(t.UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC)
}
