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
	By             string // a token, or a name from the command line
	File           io.Reader
}

// ImportResult is the result of an import.
type ImportResult struct {
	reconcile.Run
	// AlreadyImported means that the file was imported before and nothing was changed.
	AlreadyImported bool
}

// Import reads a statement and compares it with the ledger. Importing the same file again returns
// the earlier run and changes nothing. Fault: INVALID_INPUT with everything that is wrong.
func (r *Service) Import(ctx context.Context, in ImportRequest, request *ports.IdempotentRequest) (ImportResult, error) {
	format, err := in.statementFormat()
	if err == nil {
		err = r.checkAccount(ctx, in)
	}
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
	statements, err := r.Statements.Read(io.TeeReader(in.File, digest), format)
	if err != nil {
		return ImportResult{}, err
	}
	statement := statements[0] // of the only account
	if err := statement.Finalize(now); err != nil {
		return ImportResult{}, err
	}
	for i := range statement.Lines {
		statement.Lines[i].ID = r.IDs.New(now)
	}
	account := reconcile.Account{Platform: in.Platform, Path: in.Path, Currency: format.Currency}
	var done ImportResult
	err = r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		run := reconcile.Run{ID: ident.NewReconciliation(r.IDs.New, now), Account: account, Format: format.Format, Digest: [sha256.Size]byte(digest.Sum(nil)),
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
		return uow.SaveResponse(ctx, tx, request, done, nil)
	})
	return done, err
}

// checkAccount returns INVALID_INPUT if neither the service nor the ledger has the account.
func (r *Service) checkAccount(ctx context.Context, in ImportRequest) error {
	if reconcile.IsKnownPartner(in.Path) {
		return nil
	}
	found, err := r.Accounts.AccountsAtCutoff(ctx, in.Platform, in.Path, "", ports.Cutoff{})
	if err != nil || len(found) > 0 {
		return err
	}
	return reconcile.UnknownPartner(in.Path)
}

// statementFormat returns the format of the file, or INVALID_INPUT with everything that is wrong
// with the request. It does not read the file.
func (in ImportRequest) statementFormat() (ports.StatementFormat, error) {
	var bad []fault.Field
	if !reconcile.IsReconcilable(in.Path) {
		bad = append(bad, fault.Field{Field: "account", Message: "must be the ledger account of a partner, rails/<RAIL> or chains/<network>, such as rails/RTP"})
	}
	currency, err := money.ParseCurrency(in.Currency)
	if err != nil {
		bad = append(bad, fault.Field{Field: "currency", Message: "must be a currency code, such as USD"})
	}
	format, known := reconcile.ParseFormat(in.Format)
	result := ports.StatementFormat{Format: format, Currency: currency}
	if !known {
		bad = append(bad, fault.Field{Field: "format", Message: "must be one of " + strings.Join(reconcile.Formats(), ", ")})
	}
	switch {
	case result.Format == reconcile.CSV:
		result.Layout, err = reconcile.ParseLayout(in.Layout)
		if invalid, ok := fault.As(err); ok {
			bad = append(bad, invalid.Fields...)
		}
	case known && in.Layout != "":
		bad = append(bad, fault.Field{Field: "map", Message: "is only valid for the format csv"})
	}
	if len(bad) > 0 {
		return result, fault.Invalid(bad...)
	}
	return result, nil
}

// compare stores the new lines, compares everything open with the ledger, and stores the run with
// its matches and breaks.
func (r *Service) compare(ctx context.Context, tx ports.Tx, run *reconcile.Run, statement []reconcile.Line) error {
	var err error
	if run.KnownLines, err = tx.AddStatementLines(ctx, run.ID, run.Account, statement); err != nil {
		return err
	}
	days := reconcile.DayRange{First: run.From, Last: run.To}
	input, err := tx.ComparisonInput(ctx, run.Account, days)
	if err != nil {
		return err
	}
	reconcile.MarkExpected(input.Entries, append(input.Covered, days), input.OpenBreaks)
	result := reconcile.Compare(input.Lines, input.Entries)
	return tx.SaveReconciliation(ctx, *run, r.buildResult(run, result, input))
}

// buildResult assigns ids to the matches and breaks of a comparison, and counts them in the run.
func (r *Service) buildResult(run *reconcile.Run, result reconcile.Result, input ports.ComparisonInput) ports.ReconciliationResult {
	run.Matches, run.Breaks = map[reconcile.Rule]int{}, map[reconcile.Reason]int{}
	lineID := func(i int) (id uuid.UUID) {
		if i != reconcile.None {
			id = input.Lines[i].ID
		}
		return id
	}
	positionOf := func(i int) (position reconcile.EntryPosition) {
		if i != reconcile.None {
			position = reconcile.EntryPosition{Seq: input.Entries[i].Seq, N: input.Entries[i].N}
		}
		return position
	}
	var built ports.ReconciliationResult
	for _, m := range result.Matches {
		stored := ports.MatchRecord{ID: r.IDs.New(run.At), Rule: m.Rule, Reference: m.Reference, Days: m.Days, Explanation: m.Explain()}
		for _, l := range m.Lines {
			stored.Lines = append(stored.Lines, lineID(l))
		}
		for _, e := range m.Entries {
			stored.Entries = append(stored.Entries, positionOf(e))
		}
		built.Matches = append(built.Matches, stored)
		run.Matches[m.Rule]++
		run.MatchedLines += len(m.Lines)
		run.MatchedEntries += len(m.Entries)
	}
	update := result.Update(input.Lines, input.Entries, input.OpenBreaks)
	for _, b := range update.New {
		built.Breaks = append(built.Breaks, ports.BreakRecord{ID: ident.NewBreak(r.IDs.New, run.At), Reason: b.Reason,
			Line: lineID(b.Line), Entry: positionOf(b.Entry), OtherLine: lineID(b.OtherLine), OtherEntry: positionOf(b.OtherEntry), Reference: b.Reference,
			Difference: b.Difference(input.Lines, input.Entries), Explanation: b.Explain(input.Lines, input.Entries, run.Account.Currency)})
		run.Breaks[b.Reason]++
	}
	for _, b := range input.OpenBreaks {
		if method, resolved := update.Resolved[b.ID]; resolved {
			built.Resolutions = append(built.Resolutions, newResolution(b.ID, method, run))
		}
	}
	run.EarlierBreaksResolved = len(built.Resolutions)
	return built
}

func newResolution(b ident.Break, method reconcile.ResolutionMethod, run *reconcile.Run) reconcile.Resolution {
	return reconcile.Resolution{Break: b, Method: method, Run: run.ID, By: run.By, At: run.At.Truncate(time.Microsecond)}
}
