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

// An export of a log is one JSON object a line: a header, the postings in the order of
// their numbers, and an end with the number and the root of what stands between. It has
// all that goes into the leaves, so whoever has it and a head needs no database. The
// same postings always give the same bytes.

// LogFormat is the word that begins every export of a log.
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
	Amount   string `json:"amount"` // digits: not every reader of JSON has whole numbers of 64 bits
}

type logTrailer struct {
	End  bool   `json:"end"`
	Size int64  `json:"size"`
	Root []byte `json:"root"` // base64
}

// logTimeFormat is to the microsecond, as times are kept.
const logTimeFormat = "2006-01-02T15:04:05.000000Z"

// ExportLog writes the postings of a platform up to a number, all for zero, and tells
// how many there were. seen is told of each number that was written; nil for nobody.
func (b *Checker) ExportLog(ctx context.Context, platform ident.Platform, upto int64, out io.Writer, seen func(seq, of int64)) (size int64, err error) {
	w := bufio.NewWriterSize(out, 64<<10)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	tree, piece := merkle.NewTree(), 0
	err = b.audit.Snapshot(ctx, func(ctx context.Context, view ports.AuditView) error {
		of, err := countPostings(ctx, view, platform)
		if err != nil {
			return err
		}
		if upto > of {
			return fmt.Errorf("there are %d postings on %s, not %d", of, platform, upto)
		}
		if upto == 0 {
			upto = of
		}
		if err := lines.Encode(logHeader{LogFormat, platform.String(), ledger.LogOrigin(platform)}); err != nil {
			return err
		}
		return view.PostingsUpTo(ctx, platform, upto, func(a ports.AuditPosting) error {
			if !a.Found {
				return nil // entries of a posting that is missing, which shows by its number
			}
			if err := lines.Encode(newLogLine(a)); err != nil {
				return err
			}
			size++
			if piece++; piece == leavesPerFlush {
				piece = 0
				if _, _, err := tree.Flush(); err != nil {
					return err
				}
			}
			if seen != nil {
				seen(a.Seq, upto)
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
	return 0, fmt.Errorf("nothing was posted on %s", platform)
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

// toAuditPosting is the line as the check of postings takes it.
func (l logLine) toAuditPosting(platform ident.Platform) (a ports.AuditPosting, err error) {
	a = ports.AuditPosting{Seq: l.Seq, Found: true, Posting: ledger.Posting{ID: l.ID, Platform: platform, Kind: ledger.Kind(l.Kind), Memo: l.Memo}}
	if l.Transaction != nil {
		ident.SetUUID(&a.Posting.Transaction, *l.Transaction)
	}
	if l.Reverses != nil {
		a.Posting.Reverses = *l.Reverses
	}
	if a.Posting.Effective, err = parseLogTime(l.Effective); err != nil {
		return a, fmt.Errorf("its effective time %w", err)
	}
	if a.Recorded, err = parseLogTime(l.Recorded); err != nil {
		return a, fmt.Errorf("its recorded time %w", err)
	}
	for _, e := range l.Entries {
		amount, err := strconv.ParseInt(e.Amount, 10, 64)
		if err != nil || strconv.FormatInt(amount, 10) != e.Amount {
			return a, fmt.Errorf("the amount %q of its entry %d is no whole number", e.Amount, e.N)
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

// parseLogTime reads a time in the one way it is written: time.Parse alone takes a comma for
// the point.
func parseLogTime(text string) (time.Time, error) {
	at, err := time.Parse(logTimeFormat, text)
	if err != nil || at.Format(logTimeFormat) != text {
		return at, fmt.Errorf("%q is none", text)
	}
	return at, nil
}
