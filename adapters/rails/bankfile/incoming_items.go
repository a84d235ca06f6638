package bankfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"regexp"

	"causeway/core/formats/iso20022"
	"causeway/core/formats/nacha"
	"causeway/core/formats/textfile"
)

// format is the kind of a file.
type format string

const (
	formatStatus       format = "pain.002"
	formatNotification format = "camt.054"
	formatStatement    format = "camt.053"
	formatACH          format = "ACH"
	formatMT940        format = "MT940"
)

// item is a part of a file that is passed on by itself: one of these.
type item struct {
	status  *iso20022.Status
	report  *iso20022.Report  // alone: it begins
	balance *iso20022.Balance // with its report
	entry   *iso20022.Entry   // with its report, and
	payment int               // which of its payments
	number  int               // of the entry, from 1
	returns *nacha.Return
	change  *nacha.Change
	whole   bool // the file is a statement that is read as a whole
}

// maxStart is how much of a file shows its format.
const maxStart = 1024

// mt940Start is the beginning of a message of SWIFT, or of its first field. Banks write an envelope before it.
var mt940Start = regexp.MustCompile(`^\s*\{1:|(^|[\r\n]):20:`)

// formatOf returns the kind of a file by its beginning.
func formatOf(content io.Reader) (format, error) {
	buffered := bufio.NewReader(content)
	start, err := buffered.Peek(maxStart)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	switch {
	case nacha.HasHeader(start):
		return formatACH, nil
	case !bytes.HasPrefix(bytes.TrimSpace(start), []byte("<")) && mt940Start.Match(start):
		return formatMT940, nil
	}
	name, err := iso20022.MessageOf(buffered)
	if err != nil {
		return "", err
	}
	if found := format(name); found == formatStatus || found == formatNotification || found == formatStatement {
		return found, nil
	}
	return "", textfile.Errorf(1, "it is a message %s, which is not read: ask the bank for pain.002, camt.054, camt.053 and MT940 only, or "+
		"let its names be ignored", name)
}

// all yields everything in a file, once.
func (f format) all(content io.Reader) iter.Seq2[item, error] {
	if f == formatStatus {
		return statuses(content, func(iso20022.Status) bool { return true })
	}
	return f.items(content)
}

// items yields what is in a file in the order in which it is used. Statuses of transfers are before those of blocks, and
// those before the ones of files: what is said about one transfer is not overwritten by what is said about all.
func (f format) items(content io.Reader) iter.Seq2[item, error] {
	switch f {
	case formatStatus:
		return func(yield func(item, error) bool) {
			for _, level := range []iso20022.StatusLevel{iso20022.StatusOfTransfer, iso20022.StatusOfBlock, iso20022.StatusOfFile} {
				again := io.NewSectionReader(content.(io.ReaderAt), 0, 1<<62)
				for it, err := range statuses(again, func(s iso20022.Status) bool { return s.Level == level }) {
					if !yield(it, err) {
						return
					}
				}
			}
		}
	case formatACH:
		return achItems(content)
	case formatMT940:
		return func(yield func(item, error) bool) { yield(item{whole: true}, nil) }
	default:
		return movementsOf(content)
	}
}

// errEnough ends a reader whose items are not wanted any more.
var errEnough = errors.New("no more items are wanted")

// itemsOf returns the items that a reader visits.
func itemsOf(read func(visit func(item) error) error) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		err := guarded(func() error {
			return read(func(it item) error {
				if !yield(it, nil) {
					return errEnough
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(item{}, err)
		}
	}
}

func statuses(content io.Reader, wanted func(iso20022.Status) bool) iter.Seq2[item, error] {
	return itemsOf(func(visit func(item) error) error {
		return iso20022.ReadStatuses(content, func(s iso20022.Status) error {
			if !wanted(s) {
				return nil
			}
			return visit(item{status: &s})
		})
	})
}

func movementsOf(content io.Reader) iter.Seq2[item, error] {
	return itemsOf(func(visit func(item) error) error {
		entries := 0
		return iso20022.ReadReports(content, iso20022.Visitor{
			Report:  func(r iso20022.Report) error { return visit(item{report: &r}) },
			Balance: func(r iso20022.Report, b iso20022.Balance) error { return visit(item{report: &r, balance: &b}) },
			Entry: func(r iso20022.Report, e iso20022.Entry) error {
				entries++
				for i := range e.Payments {
					if err := visit(item{report: &r, entry: &e, payment: i, number: entries}); err != nil {
						return err
					}
				}
				return nil
			},
		})
	})
}

func achItems(content io.Reader) iter.Seq2[item, error] {
	return itemsOf(func(visit func(item) error) error {
		return nacha.Read(content, nacha.Visitor{
			Return: func(r nacha.Return) error { return visit(item{returns: &r}) },
			Change: func(c nacha.Change) error { return visit(item{change: &c}) },
		})
	})
}

// check returns what is wrong with an item, so that nothing in its file can be used.
func (i item) check() error {
	if i.entry != nil && i.entry.Status == "" {
		return textfile.Errorf(i.entry.Line, "an entry does not say whether it is booked: ask the bank to state it")
	}
	return nil
}
