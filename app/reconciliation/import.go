package reconciliation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/formats/statements"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ports"
)

// ImportRequest is a file with statements to be imported.
type ImportRequest struct {
	Platform ident.Platform
	// Path and Currency are of the account. Without both, the file may have several accounts, and
	// each statement is of the ledger account that Accounts or an earlier import says.
	Path, Currency string
	Accounts       string // number=path pairs separated by semicolons
	Format         string
	Layout         string // the layout of a CSV file
	// Override says why a file is imported although its balances do not fit; empty to refuse it.
	Override string
	By       string // a token, or a name from the command line
	File     io.Reader
}

// ImportResult is the result of an import.
type ImportResult struct {
	reconcile.Run
	// AlreadyImported means that the file was imported before and nothing was changed.
	AlreadyImported bool
	// Others are the runs of the other accounts in the file.
	Others []reconcile.Run
}

// Import reads the statements in a file and compares each with the ledger, all of them or none.
// Importing the same file again returns the earlier runs and changes nothing. Fault: INVALID_INPUT
// with everything that is wrong.
func (r *Service) Import(ctx context.Context, in ImportRequest, request *ports.IdempotentRequest) (ImportResult, error) {
	format, named, err := in.parse()
	if err == nil && in.Path != "" {
		err = r.checkAccount(ctx, in.Platform, in.Path)
	}
	if err != nil {
		return ImportResult{}, err
	}
	release, err := r.takeRead(ctx, in.Platform)
	if err != nil {
		return ImportResult{}, err
	}
	defer release()
	now := r.Clock.Now()
	digest := sha256.New()
	digest.Write([]byte("causeway statement\x00" + in.Format + "\x00" + in.Layout + "\x00"))
	read, err := statements.Read(io.TeeReader(in.File, digest), format)
	if err != nil {
		return ImportResult{}, err
	}
	paths, err := r.assignAccounts(ctx, in, read, named)
	if err != nil {
		return ImportResult{}, err
	}
	imports := make([]statementImport, len(read))
	for i := range read {
		if err := read[i].Finalize(now); err != nil {
			return ImportResult{}, err
		}
		for l := range read[i].Lines {
			read[i].Lines[l].ID = r.IDs.New(now)
		}
		account := reconcile.Account{Platform: in.Platform, Path: paths[i], Currency: read[i].Currency}
		imports[i] = statementImport{statement: read[i], run: reconcile.Run{ID: ident.NewReconciliation(r.IDs.New, now), Account: account,
			Format: format.Format,
			Digest: [sha256.Size]byte(digest.Sum(nil)), Lines: len(read[i].Lines), By: in.By, At: now}}
	}
	release, err = take(ctx, r.slots)
	if err != nil {
		return ImportResult{}, err
	}
	defer release()
	// In the same order everywhere, because each account is locked.
	slices.SortFunc(imports, func(a, b statementImport) int {
		return cmp.Or(strings.Compare(a.run.Account.Path, b.run.Account.Path), cmp.Compare(a.run.Account.Currency, b.run.Account.Currency))
	})
	var done ImportResult
	err = ports.Do(ctx, r.Store, func(ctx context.Context, tx Tx) error {
		done = ImportResult{AlreadyImported: true}
		// All are locked before the lines of the first are taken, so that the unit of work can run again after a deadlock.
		for i := range imports {
			var err error
			if imports[i].earlier, imports[i].again, err = tx.LockReconciliation(ctx, imports[i].run.Account, imports[i].run.Digest); err != nil {
				return err
			}
		}
		for i := range imports {
			run, again := imports[i].earlier, imports[i].again
			if !again {
				var err error
				if run, err = r.importStatement(ctx, tx, &imports[i], in.Override); err != nil {
					return err
				}
			}
			done.AlreadyImported = done.AlreadyImported && again
			if i == 0 {
				done.Run = run
			} else {
				done.Others = append(done.Others, run)
			}
		}
		return uow.SaveResponse(ctx, tx, request, done, nil)
	})
	return done, err
}

// takeRead waits until a file of a platform may be read, and returns what ends that.
func (r *Service) takeRead(ctx context.Context, p ident.Platform) (release func(), err error) {
	own, _ := r.readsOfPlatform.LoadOrStore(p, make(chan struct{}, maxReadsOfPlatform))
	releaseOwn, err := take(ctx, own.(chan struct{}))
	if err != nil {
		return nil, err
	}
	releaseRead, err := take(ctx, r.reads)
	if err != nil {
		releaseOwn()
		return nil, err
	}
	return func() { releaseRead(); releaseOwn() }, nil
}

// take waits for one of the slots, and returns what frees it.
func take(ctx context.Context, slots chan struct{}) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// statementImport is a statement with the run that imports it.
type statementImport struct {
	statement reconcile.Statement
	run       reconcile.Run
	taken     bool // the lines
	// earlier is the run that imported the same file for the account before, if again.
	earlier reconcile.Run
	again   bool
}

// takeLines returns the lines, once: they are most of the memory of an import, and are not needed any more
// when the comparison has them. Fault: SERVICE_UNAVAILABLE if the unit of work runs again, which only an operator
// who locks indexes or partitions by hand can cause.
func (s *statementImport) takeLines() ([]reconcile.Line, error) {
	if s.taken {
		return nil, &fault.Error{Code: fault.ServiceUnavailable, Reason: "Import interrupted", RetryAfter: time.Second,
			Message: "The import met another change of the database, and nothing was imported. Repeat it."}
	}
	lines := s.statement.Lines
	s.statement.Lines, s.taken = nil, true
	return lines, nil
}

// importStatement imports one statement, whose account is locked.
func (r *Service) importStatement(ctx context.Context, tx Tx, s *statementImport, override string) (reconcile.Run, error) {
	run := s.run
	mismatch, err := checkContinues(ctx, tx, run.Account, s.statement)
	if err != nil {
		return run, err
	}
	run.Header = s.statement.Header
	if mismatch != "" {
		run.Mismatches = append(slices.Clone(run.Mismatches), mismatch)
	}
	if len(run.Mismatches) > 0 {
		if override == "" {
			return run, run.RefuseMismatch()
		}
		run.Override = override
	}
	return run, r.compare(ctx, tx, &run, s)
}

// checkContinues compares a statement with the one before it. That is the last one that ended before
// its first day, unless lines are dated before the end of that one, or the bank has made several
// statements of a day.
func checkContinues(ctx context.Context, tx Tx, a reconcile.Account, s reconcile.Statement) (mismatch string, err error) {
	for _, day := range []reconcile.Day{s.From, s.To, s.To + 1} {
		before, found, err := tx.PreviousStatement(ctx, a, s.PartnerAccount, day)
		if err != nil || !found {
			return "", err
		}
		difference := s.CheckContinues(before)
		if difference == "" {
			return "", nil
		}
		mismatch = cmp.Or(mismatch, difference)
	}
	return mismatch, nil
}

// assignAccounts returns the path of the ledger account of each statement.
func (r *Service) assignAccounts(ctx context.Context, in ImportRequest, statements []reconcile.Statement,
	named reconcile.AccountPaths) ([]string, error) {
	known, err := r.Runs.PartnerAccounts(ctx, in.Platform)
	if err != nil {
		return nil, err
	}
	if in.Path != "" {
		return []string{in.Path}, named.CheckNumber(statements[0], in.Path, known)
	}
	paths, err := named.Assign(statements, known)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := r.checkAccount(ctx, in.Platform, path); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// checkAccount returns INVALID_INPUT if neither the service nor the ledger has the account.
func (r *Service) checkAccount(ctx context.Context, p ident.Platform, path string) error {
	if reconcile.IsKnownPartner(path) {
		return nil
	}
	found, err := r.Accounts.AccountsAtCutoff(ctx, p, path, "", ports.Cutoff{})
	if err != nil || len(found) > 0 {
		return err
	}
	return reconcile.UnknownPartner(path)
}

// parse returns the format of the file and the named accounts, or INVALID_INPUT with everything that
// is wrong with the request. It does not read the file.
func (in ImportRequest) parse() (statements.Options, reconcile.AccountPaths, error) {
	var bad []fault.Field
	addFields := func(err error) {
		if invalid, ok := fault.As(err); ok {
			bad = append(bad, invalid.Fields...)
		}
	}
	format, known := reconcile.ParseFormat(in.Format)
	result := statements.Options{Format: format, AcceptsMismatch: in.Override != ""}
	var layoutErr error
	switch {
	case format == reconcile.CSV:
		result.Layout, layoutErr = reconcile.ParseLayout(in.Layout)
	case format == reconcile.MT940:
		result.Layout, layoutErr = reconcile.ParseEncoding(in.Layout)
	case known && in.Layout != "":
		layoutErr = fault.Invalid(fault.Field{Field: "map", Message: "is only valid for the formats csv and mt940"})
	}
	// A CSV file with a column for the account may have several, in one currency if it has no column
	// for that.
	linesSayAccount := result.Layout.HasAccounts() && in.Path == ""
	if !linesSayAccount && (in.Path != "" || in.Currency != "" || format == reconcile.CSV) && !reconcile.IsReconcilable(in.Path) {
		bad = append(bad, fault.Field{Field: "account", Message: "must be the ledger account of a partner, " + reconcile.AccountForms +
			", such as rails/RTP"})
	}
	if in.Path != "" || in.Currency != "" || format == reconcile.CSV &&
		(!linesSayAccount || result.Layout.Columns[reconcile.ColumnCurrency] == "") {
		currency, err := money.ParseCurrency(in.Currency)
		if err != nil {
			bad = append(bad, fault.Field{Field: "currency", Message: "must be a currency code, such as USD"})
		}
		if linesSayAccount {
			result.CommonCurrency = currency
		} else {
			result.Currency = currency
		}
	}
	if !known {
		bad = append(bad, fault.Field{Field: "format", Message: "must be one of " + strings.Join(reconcile.Formats(), ", ")})
	}
	addFields(layoutErr)
	named, err := reconcile.ParseAccountPaths(in.Accounts)
	addFields(err)
	if len(in.Override) > reconcile.MaxOverride || in.Override != "" && strings.TrimSpace(in.Override) == "" {
		bad = append(bad, fault.Field{Field: "override", Message: "must say why the file is right, in at most 500 bytes"})
	}
	if len(bad) > 0 {
		return result, nil, fault.Invalid(bad...)
	}
	return result, named, nil
}

// compare stores the new lines, compares everything open with the ledger, and stores the run with
// its matches and breaks.
func (r *Service) compare(ctx context.Context, tx Tx, run *reconcile.Run, s *statementImport) error {
	comparison, err := loadComparison(ctx, tx, run, s)
	if err != nil {
		return err
	}
	comparison.Compare()
	result := r.buildResult(run, comparison)
	if err := tx.SaveReconciliationResult(ctx, *run, result); err != nil {
		return err
	}
	if run.Balance, err = r.compareBalance(ctx, tx, *run); err != nil {
		return err
	}
	return tx.AddReconciliation(ctx, *run)
}

// loadComparison stores the new lines, and returns the comparison of everything open.
func loadComparison(ctx context.Context, tx Tx, run *reconcile.Run, s *statementImport) (*reconcile.Comparison, error) {
	lines, err := s.takeLines()
	if err != nil {
		return nil, err
	}
	added, err := tx.AddStatementLines(ctx, run.ID, run.Account, lines)
	if err != nil {
		return nil, err
	}
	run.KnownLines = len(lines) - len(added)
	days := reconcile.DayRange{First: run.From, Last: run.To}
	comparison := &reconcile.Comparison{}
	comparison.Expect([]reconcile.DayRange{days}, nil)
	return comparison, tx.LoadComparison(ctx, run.ID, run.Account, days, added, comparison)
}

// buildResult assigns ids to the matches and breaks of a comparison, and counts them in the run. The
// records are made while they are stored, because there are as many as lines.
func (r *Service) buildResult(run *reconcile.Run, c *reconcile.Comparison) ports.ReconciliationResult {
	run.Matches, run.Breaks = map[reconcile.Rule]int{}, map[reconcile.Reason]int{}
	matchIDs := make([]uuid.UUID, 0, c.MatchCount())
	for m := range c.Matches() {
		matchIDs = append(matchIDs, r.IDs.New(run.At))
		run.Matches[m.Rule]++
		run.MatchedLines += len(m.Lines)
		run.MatchedEntries += len(m.Entries)
	}
	update := c.Update()
	breakIDs := make([]ident.Break, len(update.New))
	for i, b := range update.New {
		breakIDs[i] = ident.NewBreak(r.IDs.New, run.At)
		run.Breaks[b.Reason]++
	}
	built := ports.ReconciliationResult{
		Matches: func(yield func(ports.MatchRecord) bool) {
			i := 0
			for m := range c.Matches() {
				if !yield(matchRecord(matchIDs[i], c, m)) {
					return
				}
				i++
			}
		},
		Breaks: func(yield func(ports.BreakRecord) bool) {
			for i, b := range update.New {
				if !yield(breakRecord(breakIDs[i], run.Account.Currency, c, b)) {
					return
				}
			}
		},
	}
	for _, b := range update.Resolved {
		built.Resolutions = append(built.Resolutions, newResolution(b.ID, b.Method, run))
	}
	run.EarlierBreaksResolved = len(built.Resolutions)
	return built
}

func matchRecord(id uuid.UUID, c *reconcile.Comparison, m reconcile.Match) ports.MatchRecord {
	record := ports.MatchRecord{ID: id, Rule: m.Rule, Reference: m.Reference, Days: m.Days, Explanation: m.Explain(),
		Lines: make([]uuid.UUID, len(m.Lines)), Entries: make([]reconcile.EntryPosition, len(m.Entries))}
	for i, l := range m.Lines {
		record.Lines[i] = c.Line(l)
	}
	for i, e := range m.Entries {
		record.Entries[i] = c.Entry(e)
	}
	return record
}

func breakRecord(id ident.Break, currency money.Currency, c *reconcile.Comparison, b reconcile.Break) ports.BreakRecord {
	return ports.BreakRecord{ID: id, Reason: b.Reason, Line: c.Line(b.Line), Entry: c.Entry(b.Entry), OtherLine: c.Line(b.OtherLine),
		OtherEntry: c.Entry(b.OtherEntry),
		Reference:  b.Reference, Difference: c.Difference(b), Explanation: c.Explain(b, currency)}
}

func newResolution(b ident.Break, method reconcile.ResolutionMethod, run *reconcile.Run) reconcile.Resolution {
	return reconcile.Resolution{Break: b, Method: method, Run: run.ID, By: run.By, At: run.At.Truncate(time.Microsecond)}
}
