package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/google/uuid"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// An export of a log has one JSON object on each line: a header, the postings in the order of
// their numbers, and a trailer with the size and the root hash. It has everything that the
// leaves are computed from, so an export and a checkpoint can be verified without a database.
// The same postings always have the same bytes.

// LogFormat is the format in the header of an export.
const LogFormat = "causeway log 1"

type logHeader struct {
	Format   string `json:"format"`
	Platform string `json:"platform"`
	Origin   string `json:"origin"`
}

type logLine struct {
	Seq         int64      `json:"seq"`
	ID          uuid.UUID  `json:"id"`
	Kind        string     `json:"kind"`
	Transaction *uuid.UUID `json:"transaction,omitempty"`
	Reverses    *uuid.UUID `json:"reverses,omitempty"`
	Effective   string     `json:"effective"`
	Recorded    string     `json:"recorded"`
	Memo        string     `json:"memo"`
	Entries     []logEntry `json:"entries"`
}

type logEntry struct {
	N        int    `json:"n"`
	Debit    string `json:"debit"`
	Credit   string `json:"credit"`
	Currency string `json:"currency"`
	Amount   string `json:"amount"` // digits, because not every JSON reader has integers of 64 bits
}

type logTrailer struct {
	End  bool   `json:"end"`
	Size int64  `json:"size"`
	Root []byte `json:"root"` // base64
}

// logTimeFormat has microseconds, the resolution of stored times.
const logTimeFormat = "2006-01-02T15:04:05.000000Z"

// ExportLog writes the postings of a platform up to a number, all if it is zero, and returns
// how many it wrote. It calls progress after each, if that is not nil.
func (c *Checker) ExportLog(ctx context.Context, platform ident.Platform, upto int64, out io.Writer, progress func(done, total int64)) (
	size int64, err error) {
	w := bufio.NewWriterSize(out, 64<<10)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	tree, unflushed := merkle.NewTree(), 0
	err = c.store.LedgerAudit().Snapshot(ctx, func(ctx context.Context, view ports.AuditView) error {
		total, err := countPostings(ctx, view, platform)
		if err != nil {
			return err
		}
		if upto > total {
			return fmt.Errorf("%s has %d postings, not %d", platform, total, upto)
		}
		if upto == 0 {
			upto = total
		}
		if err := lines.Encode(logHeader{LogFormat, platform.String(), ledger.LogOrigin(platform)}); err != nil {
			return err
		}
		return view.PostingsUpTo(ctx, platform, upto, func(a ports.AuditPosting) error {
			if !a.Found {
				return nil // entries of a missing posting, which is reported by its number
			}
			if err := lines.Encode(newLogLine(a)); err != nil {
				return err
			}
			size++
			if unflushed++; unflushed == leavesPerFlush {
				unflushed = 0
				if _, _, err := tree.Flush(); err != nil {
					return err
				}
			}
			if progress != nil {
				progress(a.Seq, upto)
			}
			return tree.Add(merkle.LeafHash(ledger.Leaf{Posting: a.WithEntries(), Seq: a.Seq, Recorded: a.Recorded}))
		})
	})
	if err != nil {
		return size, fmt.Errorf("export the log: %w", err)
	}
	root, err := tree.Root()
	if err != nil {
		return size, err
	}
	if err := lines.Encode(logTrailer{true, size, root[:]}); err != nil {
		return size, err
	}
	return size, w.Flush()
}

func countPostings(ctx context.Context, view ports.AuditView, platform ident.Platform) (int64, error) {
	platforms, err := view.Platforms(ctx)
	if err != nil {
		return 0, err
	}
	for _, p := range platforms {
		if p.Platform == platform {
			return p.Seq, nil
		}
	}
	return 0, fmt.Errorf("%s has no postings", platform)
}

func newLogLine(a ports.AuditPosting) logLine {
	line := logLine{
		Seq: a.Seq, ID: a.Posting.ID, Kind: string(a.Posting.Kind), Memo: a.Posting.Memo, Entries: make([]logEntry, len(a.Entries)),
		Effective: a.Posting.Effective.UTC().Format(logTimeFormat), Recorded: a.Recorded.UTC().Format(logTimeFormat),
	}
	if t := a.Posting.Transaction.UUID(); t != uuid.Nil {
		line.Transaction = &t
	}
	if r := a.Posting.Reverses; r != uuid.Nil {
		line.Reverses = &r
	}
	for i, e := range a.Entries {
		line.Entries[i] = logEntry{e.N, e.Debit.Path, e.Credit.Path, string(e.Currency), strconv.FormatInt(e.Amount, 10)}
	}
	return line
}

// toAuditPosting converts the line for the check of postings.
func (l logLine) toAuditPosting(platform ident.Platform) (a ports.AuditPosting, err error) {
	a = ports.AuditPosting{Seq: l.Seq, Found: true, Posting: ledger.Posting{ID: l.ID, Platform: platform, Kind: ledger.Kind(l.Kind),
		Memo: l.Memo}}
	if l.Transaction != nil {
		a.Posting.Transaction.SetUUID(*l.Transaction)
	}
	if l.Reverses != nil {
		a.Posting.Reverses = *l.Reverses
	}
	if a.Posting.Effective, err = parseLogTime(l.Effective); err != nil {
		return a, fmt.Errorf("effective: %w", err)
	}
	if a.Recorded, err = parseLogTime(l.Recorded); err != nil {
		return a, fmt.Errorf("recorded: %w", err)
	}
	for _, e := range l.Entries {
		amount, err := strconv.ParseInt(e.Amount, 10, 64)
		if err != nil || strconv.FormatInt(amount, 10) != e.Amount {
			return a, fmt.Errorf("the amount %q of entry %d is not an integer", e.Amount, e.N)
		}
		currency := money.Currency(e.Currency)
		a.Entries = append(a.Entries, ports.AuditEntry{
			N: e.N, Currency: currency, Amount: amount,
			Debit:  ports.AuditSide{Found: true, Path: e.Debit, Currency: currency},
			Credit: ports.AuditSide{Found: true, Path: e.Credit, Currency: currency},
		})
	}
	return a, nil
}

// parseLogTime parses a time in exactly logTimeFormat: time.Parse alone also accepts a comma as
// the decimal separator.
func parseLogTime(text string) (time.Time, error) {
	t, err := time.Parse(logTimeFormat, text)
	if err != nil || t.Format(logTimeFormat) != text {
		return t, fmt.Errorf("%q is not a time in the form %s", text, logTimeFormat)
	}
	return t, nil
}
