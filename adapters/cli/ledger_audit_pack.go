package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/adapters/cli/table"
	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/app/exports"
	"causeway/app/exports/statement"
	"causeway/app/platforms"
	"causeway/app/yearend"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

type ledgerAuditPackCommand struct {
	platformFlags
	Year        int      `arg:"" help:"Calendar year in which the financial year ends, such as 2026. All its months must be closed."`
	Folder      string   `required:"" help:"Folder to write, which must not exist or be empty. It appears when it is complete." type:"path" placeholder:"FOLDER"`
	Checkpoints []string `aliases:"checkpoint" sep:"none" help:"Folder, file, or http or https URL of checkpoints published outside the database, to verify the ledger against them too. Repeatable." placeholder:"WHERE"`
}

func (l ledgerAuditPackCommand) Run(ctx context.Context, env *Env) error {
	verify := ledgerVerifyCommand{checkpointFlags: checkpointFlags{Checkpoints: l.Checkpoints}, MaxUnsealed: packMaxUnsealed}
	options, err := verify.parseVerification(ctx, env)
	if err != nil {
		return err
	}
	folder, err := newPackFolder(l.Folder)
	if err != nil {
		return err
	}
	defer folder.discard()
	return l.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		pack := auditPack{packFolder: folder, clock: env.Clock, services: services, platform: p}
		if err := pack.read(ctx, l.Year); err != nil {
			return fieldErrors("no pack was written", err, argument{"year", strconv.Itoa(l.Year)})
		}
		failed, err := pack.write(ctx, options)
		if err != nil {
			return err
		}
		if err := folder.finish(); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(env.Out, "%s: %d files, year %s of %s\n", l.Folder, len(folder.sums), pack.year.Year, p); err != nil ||
			failed == nil {
			return err
		}
		return fmt.Errorf("%s says what was found: %w", packVerification, failed)
	})
}

// PackServices are the use cases that a pack is made from.
type PackServices interface {
	Years() *yearend.Service
	Periods() *accounting.Periods
	Accounting() *accounting.Service
	Exports(company statement.Company, progress func(done, total int64)) *exports.Service
	Audit() *audit.Checker
	Log() *audit.Log
	Platforms() *platforms.Service
	CheckpointKeys(context.Context) ([]ports.SealedCheckpointKey, error)
}

// CheckAuditPack returns CONFLICT if a year has no pack, because it can still change or is not sealed, MONTH_ARCHIVED, and INVALID_INPUT
// for an unknown one.
func CheckAuditPack(ctx context.Context, services PackServices, p ident.Platform, year int) error {
	return (&auditPack{services: services, platform: p}).read(ctx, year)
}

// WriteAuditPack writes the pack of a financial year as a ZIP archive. findings is what its verification found, and empty if it passed.
// written is called with the number of files that are ready. What is read meanwhile is in files without a name, in TMPDIR.
func WriteAuditPack(ctx context.Context, services PackServices, clock ports.Clock, p ident.Platform, year int, out io.Writer,
	written func(files int64)) (findings string, err error) {
	files := newPackFiles()
	defer files.discard()
	files.written = written
	pack := auditPack{packFolder: files, clock: clock, services: services, platform: p}
	if err := pack.read(ctx, year); err != nil {
		return "", err
	}
	failed, err := pack.write(ctx, audit.VerifyOptions{SealedBefore: clock.Now().Add(-packMaxUnsealed)})
	if err != nil {
		return "", err
	}
	if failed != nil {
		findings = packVerification + " says what was found: " + failed.Error()
	}
	return findings, files.archive(out, "audit-pack-"+pack.year.Year.String())
}

// packMaxUnsealed is how old a posting is that must be sealed.
const packMaxUnsealed = time.Hour

// packVerification is the file with the result of the verification.
const packVerification = "verification.txt"

// auditPack is what an auditor receives of a financial year.
type auditPack struct {
	*packFolder
	clock    ports.Clock
	services PackServices
	platform ident.Platform
	year     yearend.Year
	// closings are those of the months of the year, oldest first, and before them that of the month before the year,
	// if that was closed.
	closings []period.Closing
	// checkpoint and evidence are the newest checkpoints of the two logs.
	checkpoint, evidence ports.SignedCheckpoint
	keys                 []ports.SealedCheckpointKey
}

// read reads what the pack is made from, and refuses a year that can still change or is not sealed.
func (a *auditPack) read(ctx context.Context, number int) (err error) {
	if a.year, err = a.services.Years().Get(ctx, a.platform, number); err != nil {
		return err
	}
	months, err := a.services.Periods().List(ctx, a.platform)
	if err != nil {
		return err
	}
	last, state := a.year.Year.Last(), period.Open
	for _, m := range slices.Backward(months) {
		if m.Month == last {
			state = m.State
		}
		if m.Closing != nil && !m.Month.Before(a.year.Year.First().Previous()) && !last.Before(m.Month) {
			a.closings = append(a.closings, *m.Closing)
		}
	}
	if state != period.Closed {
		return fault.New(fault.Conflict, "%s, the last month of the year %s, is %s: close all months of the year first.", last,
			a.year.Year, state)
	}
	if archived, err := a.services.Periods().Archived(ctx); err != nil {
		return err
	} else if !archived.IsZero() {
		return fault.New(fault.MonthArchived, "Months up to %s are archived, and a pack needs all postings. Restore them (causeway ledger "+
			"restore), write the pack, then archive them again.", archived)
	}

	log, err := a.services.Log().Status(ctx, a.platform)
	if err != nil {
		return err
	}
	evidence, err := a.services.Log().EvidenceStatus(ctx, a.platform)
	if err != nil {
		return err
	}
	a.checkpoint, a.evidence = log.Checkpoint, evidence.Checkpoint
	if closed := a.closings[len(a.closings)-1]; a.checkpoint.Size == 0 || a.checkpoint.Size < closed.Seq || a.evidence.Size == 0 {
		return errNotSealed(closed.Month)
	}
	a.keys, err = a.services.CheckpointKeys(ctx)
	return err
}

func errNotSealed(m period.Month) error {
	return fault.New(fault.Conflict, "The closing of %s is not sealed in the logs yet: a running service does that within "+
		"CAUSEWAY_SEAL_EVERY (one minute). Try again then.", m)
}

// write writes all files. failed is not nil if the verification found a violation, which is in its file. What is written of the
// books and what is verified read the ledger apart from each other, at the same time.
func (a *auditPack) write(ctx context.Context, options audit.VerifyOptions) (failed, err error) {
	writing, ctx := errgroup.WithContext(ctx)
	writing.Go(func() error { return a.writeBooks(ctx) })
	writing.Go(func() (err error) {
		for _, write := range []func(context.Context) error{a.writeClosings, a.writeLogs, a.writeProofs} {
			if err := write(ctx); err != nil {
				return err
			}
		}
		if err := a.files(packFile{"README.txt", func(out io.Writer) error { return writePackReadme(out, a) }}); err != nil {
			return err
		}
		failed, err = a.verify(ctx, options)
		return err
	})
	err = writing.Wait()
	return failed, err
}

// writeBooks writes the year's reports.
func (a *auditPack) writeBooks(ctx context.Context) error {
	interval := period.Interval{From: a.year.Year.First().Start(), To: a.year.Year.Last().End()}
	reports := a.services.Accounting()
	// The general ledger has the balances of each account, however many there are.
	balance, err := reports.TrialBalance(ctx, a.platform, accounting.TrialBalanceQuery{By: ports.ByEffective, Interval: interval,
		OrGrouped: true})
	if err != nil {
		return flagErrors(err)
	}
	service := a.services.Exports(statement.Company{}, nil)
	export := func(format exports.Format) func(io.Writer) error {
		return func(out io.Writer) error {
			document, err := service.Export(a.platform, exports.Request{Format: format, LedgerFilter: ports.LedgerFilter{Interval: interval}})
			if err != nil {
				return err
			}
			return document.Write(ctx, out)
		}
	}
	year, err := yearsTable([]yearend.Year{a.year}, func(texts ...*string) error {
		return a.services.Platforms().NameTokens(ctx, a.platform, texts...)
	})
	if err != nil {
		return err
	}
	return a.files(
		packTable(ctx, "year.csv", year),
		packTable(ctx, "trial-balance.csv", balance.Table()),
		packFile{"general-ledger.csv", func(out io.Writer) error { return service.WriteGeneralLedger(ctx, out, a.platform, interval) }},
		packFile{"journals.csv", export(exports.CSV)},
		packFile{"books.journal", export(exports.HLedger)},
	)
}

// writeClosings writes the trial balance and the record of each closed month of the year.
func (a *auditPack) writeClosings(ctx context.Context) error {
	periods := a.services.Periods()
	for _, c := range a.closings {
		if c.Month.Before(a.year.Year.First()) {
			continue
		}
		t, err := periods.ClosingTable(ctx, a.platform, c.Month)
		if err != nil {
			return err
		}
		name := "closings/" + c.Month.String()
		if err := a.files(packTable(ctx, name+".csv", t), packJSON(name+".json", newPackClosing(c))); err != nil {
			return err
		}
	}
	return nil
}

// writeLogs writes both logs up to their newest checkpoints, the checkpoints and the keys that signed them.
func (a *auditPack) writeLogs(ctx context.Context) error {
	checker := a.services.Audit()
	month := a.closings[len(a.closings)-1].Month
	closing := &textFinder{text: fmt.Sprintf(`{"kind":%q,"subject":%q`, ledger.FactClosing, month.Start().Format(time.DateOnly))}
	err := a.files(
		packFile{"ledger.log", func(out io.Writer) error {
			_, err := checker.ExportLog(ctx, a.platform, a.checkpoint.Size, out, nil)
			return err
		}},
		packFile{"evidence.log", func(out io.Writer) error {
			_, err := checker.ExportEvidence(ctx, a.platform, a.evidence.Size, io.MultiWriter(out, closing))
			return err
		}},
		packFile{"checkpoints.txt", func(out io.Writer) error {
			for _, note := range a.notes() {
				if _, err := io.WriteString(out, note+"\n"); err != nil {
					return err
				}
			}
			return nil
		}},
		packFile{"keys.txt", func(out io.Writer) error {
			for _, key := range a.keys {
				if _, err := fmt.Fprintln(out, audit.VerifierKey(a.platform, key.CheckpointKey)); err != nil {
					return err
				}
			}
			return nil
		}},
	)
	if err == nil && !closing.found {
		return errNotSealed(month)
	}
	return err
}

// notes returns the checkpoints that are stored with the closings, and the newest of each log.
func (a *auditPack) notes() (notes []string) {
	for _, c := range a.closings {
		notes = append(notes, c.Checkpoint)
	}
	notes = append(notes, a.checkpoint.Note, a.evidence.Note)
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	return slices.Compact(notes)
}

// verify verifies the stored ledger of the platform and, at the same time, the exported logs, and writes the results.
func (a *auditPack) verify(ctx context.Context, options audit.VerifyOptions) (failed, err error) {
	err = a.files(packFile{packVerification, func(out io.Writer) error {
		if _, err := fmt.Fprintf(out, "Verification of the ledger of %s at %s\n\n", a.platform,
			a.clock.Now().UTC().Format(time.RFC3339)); err != nil {
			return err
		}
		verifying, ctx := errgroup.WithContext(ctx)
		var logs bytes.Buffer
		var failedLogs error
		verifying.Go(func() error { return a.verifyLogs(ctx, &logs, &failedLogs) })
		verifying.Go(func() error {
			report, err := a.services.Audit().Of(a.platform).Verify(ctx, options)
			if err != nil {
				return err
			}
			if failed = printCheck(out, table.Text, report); failed != nil && !errors.Is(failed, errCheckFailed) {
				return failed
			}
			return nil
		})
		if err := verifying.Wait(); err != nil {
			return err
		}
		if failedLogs != nil {
			failed = failedLogs
		}
		_, err := logs.WriteTo(out)
		return err
	}})
	return failed, err
}

func (a *auditPack) verifyLogs(ctx context.Context, out io.Writer, failed *error) error {
	var options audit.VerifyOptions
	for _, key := range a.keys {
		options.Keys = append(options.Keys, key.Public)
	}
	notes, err := a.open("checkpoints.txt")
	if err != nil {
		return err
	}
	options.Published, err = audit.ReadCheckpoints("checkpoints.txt", notes)
	if err := errors.Join(err, notes.Close()); err != nil {
		return err
	}
	for _, name := range []string{"ledger.log", "evidence.log"} {
		if _, err := fmt.Fprintf(out, "\ncauseway ledger verify --export %s --checkpoints checkpoints.txt\n\n", name); err != nil {
			return err
		}
		log, err := a.open(name)
		if err != nil {
			return err
		}
		report, err := audit.VerifyExport(ctx, log, options)
		if err := errors.Join(err, log.Close()); err != nil {
			return err
		}
		if err := printCheck(out, table.Text, report); errors.Is(err, errCheckFailed) {
			*failed = err
		} else if err != nil {
			return err
		}
	}
	return nil
}
