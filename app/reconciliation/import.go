package reconciliation

import (
	"context"
	"crypto/sha256"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ports"
)

// ImportRequest is a statement to be imported.
type ImportRequest struct {
	Platform       ident.Platform
	Path, Currency string // the account
	Format         string
	Layout         string // the layout of a CSV file
	By             string // a token, or a person at the command line
	File           io.Reader
}

// ImportResult is what came of it.
type ImportResult struct {
	reconcile.Run
	// AlreadyImported: the file was imported before, and nothing was changed.
	AlreadyImported bool
}

// Import reads a statement and compares it with the books. The same file again answers
// with the run that has read it, and changes nothing. Faults: INVALID_INPUT with
// everything that is wrong.
func (r *Service) Import(ctx context.Context, in ImportRequest, claim *ports.IdempotentRequest) (ImportResult, error) {
	how, err := in.statementFormat()
	if err != nil {
		return ImportResult{}, err
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return ImportResult{}, ctx.Err()
	}
	now := r.Clock.Now()
	digest := sha256.New()
	digest.Write([]byte("causeway statement\x00" + in.Format + "\x00" + in.Layout + "\x00"))
	statement, err := r.Statements.Read(io.TeeReader(in.File, digest), how)
	if err == nil {
		err = statement.Finalize(now)
	}
	if err != nil {
		return ImportResult{}, err
	}
	for i := range statement.Lines {
		statement.Lines[i].ID = r.IDs.New(now)
	}
	account := reconcile.Account{Platform: in.Platform, Path: in.Path, Currency: how.Currency}
	var done ImportResult
	err = r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		run := reconcile.Run{ID: ident.NewReconciliation(r.IDs.New, now), Account: account, Format: how.Format, Digest: [sha256.Size]byte(digest.Sum(nil)),
			Header: statement.Header, Lines: len(statement.Lines), By: in.By, At: now}
		earlier, again, err := tx.LockReconciliation(ctx, account, run.Digest)
		switch {
		case err != nil:
			return err
		case again:
			run = earlier
		default:
			if err := r.compare(ctx, tx, &run, statement.Lines); err != nil {
				return err
			}
		}
		done = ImportResult{run, again}
		return uow.SaveResponse(ctx, tx, claim, done, nil)
	})
	return done, err
}

// statementFormat lists everything that is wrong with what is asked, before the file is read.
func (in ImportRequest) statementFormat() (ports.StatementFormat, error) {
	var bad []fault.Field
	if !reconcile.IsReconcilable(in.Path) {
		bad = append(bad, fault.Field{Field: "account", Message: "must be a partner's account in the books: rails/<RAIL> or chains/<network>, such as rails/RTP"})
	}
	currency, err := money.ParseCurrency(in.Currency)
	if err != nil {
		bad = append(bad, fault.Field{Field: "currency", Message: "must be the code of a currency of the account, such as USD"})
	}
	format, known := reconcile.ParseFormat(in.Format)
	how := ports.StatementFormat{Format: format, Currency: currency}
	if !known {
		bad = append(bad, fault.Field{Field: "format", Message: "must be one of " + strings.Join(reconcile.Formats(), ", ")})
	}
	switch {
	case how.Format == reconcile.CSV:
		how.Layout, err = reconcile.ParseLayout(in.Layout)
		if wrong, ok := fault.As(err); ok {
			bad = append(bad, wrong.Fields...)
		}
	case known && in.Layout != "":
		bad = append(bad, fault.Field{Field: "map", Message: "is for the format csv alone"})
	}
	if len(bad) > 0 {
		return how, fault.Invalid(bad...)
	}
	return how, nil
}

// compare stores the lines that are new, compares all that is open with the books, and
// stores what was found with the run.
func (r *Service) compare(ctx context.Context, tx ports.Tx, run *reconcile.Run, statement []reconcile.Line) error {
	var err error
	if run.KnownLines, err = tx.AddStatementLines(ctx, run.ID, run.Account, statement); err != nil {
		return err
	}
	span := reconcile.DayRange{First: run.From, Last: run.To}
	with, err := tx.ComparisonInput(ctx, run.Account, span)
	if err != nil {
		return err
	}
	reconcile.MarkExpected(with.Entries, append(with.Covered, span), with.OpenBreaks)
	result := reconcile.Compare(with.Lines, with.Entries)
	return tx.SaveReconciliation(ctx, *run, r.buildResult(run, result, with))
}

// buildResult gives what a comparison found its ids, and counts it in the run.
func (r *Service) buildResult(run *reconcile.Run, result reconcile.Result, with ports.ComparisonInput) ports.ReconciliationResult {
	run.Matches, run.Breaks = map[reconcile.Rule]int{}, map[reconcile.Reason]int{}
	lineID := func(i int) (id uuid.UUID) {
		if i != reconcile.None {
			id = with.Lines[i].ID
		}
		return id
	}
	placeOf := func(i int) (place reconcile.EntryPosition) {
		if i != reconcile.None {
			place = reconcile.EntryPosition{Seq: with.Entries[i].Seq, N: with.Entries[i].N}
		}
		return place
	}
	var found ports.ReconciliationResult
	for _, m := range result.Matches {
		stored := ports.MatchRecord{ID: r.IDs.New(run.At), Rule: m.Rule, Reference: m.Reference, Days: m.Days, Explanation: m.Explain()}
		for _, l := range m.Lines {
			stored.Lines = append(stored.Lines, lineID(l))
		}
		for _, e := range m.Entries {
			stored.Entries = append(stored.Entries, placeOf(e))
		}
		found.Matches = append(found.Matches, stored)
		run.Matches[m.Rule]++
		run.MatchedLines += len(m.Lines)
		run.MatchedEntries += len(m.Entries)
	}
	update := result.Update(with.Lines, with.Entries, with.OpenBreaks)
	for _, b := range update.New {
		found.Breaks = append(found.Breaks, ports.BreakRecord{ID: ident.NewBreak(r.IDs.New, run.At), Reason: b.Reason,
			Line: lineID(b.Line), Entry: placeOf(b.Entry), OtherLine: lineID(b.OtherLine), OtherEntry: placeOf(b.OtherEntry), Reference: b.Reference,
			Difference: b.Difference(with.Lines, with.Entries), Explanation: b.Explain(with.Lines, with.Entries, run.Account.Currency)})
		run.Breaks[b.Reason]++
	}
	for _, b := range with.OpenBreaks {
		if how, resolved := update.Resolved[b.ID]; resolved {
			found.Resolutions = append(found.Resolutions, newResolution(b.ID, how, run))
		}
	}
	run.EarlierBreaksResolved = len(found.Resolutions)
	return found
}

func newResolution(b ident.Break, how reconcile.ResolutionMethod, run *reconcile.Run) reconcile.Resolution {
	return reconcile.Resolution{Break: b, Method: how, Run: run.ID, By: run.By, At: run.At.Truncate(time.Microsecond)}
}
