package nacha

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/moov-io/ach"
	"github.com/moov-io/base"

	"causeway/core/formats/textfile"
	"causeway/core/money"
)

// MaxFileBytes is the maximum size of a file: the library keeps it in memory.
const MaxFileBytes = 32 << 20

// HasHeader reports whether a file begins like one of the Nacha format.
func HasHeader(start []byte) bool { return bytes.HasPrefix(start, []byte("101")) }

// readRules accept what banks and operators do otherwise than originators. The totals of the file and of its batches
// must be right, so that nothing is read of a file that is damaged.
var readRules = &ach.ValidateOpts{
	BypassOriginValidation: true, BypassDestinationValidation: true, BypassCompanyIdentificationMatch: true,
	CustomTraceNumbers: true, CustomReturnCodes: true, AllowUnorderedBatchNumbers: true, AllowInvalidCheckDigit: true,
	AllowSpecialCharacters: true, AllowEmptyIndividualName: true, AllowInvalidAmounts: true,
}

// Read reads a file of returns and notifications of change. It checks the whole file before it calls the visitor.
func Read(r io.Reader, v Visitor) error {
	file, err := parse(r)
	if err != nil {
		return err
	}
	if len(file.IATBatches) > 0 {
		return textfile.Errorf(file.IATBatches[0].Header.LineNumber, "it has international (IAT) entries, which are not supported: read them "+
			"at the bank")
	}
	created, _ := time.Parse("060102", file.Header.FileCreationDate)
	for _, b := range file.Batches {
		for _, e := range b.GetEntries() {
			if e.Category == ach.CategoryForward {
				return textfile.Errorf(e.LineNumber, "the entry is neither a return nor a notification of change: put the file where such files are "+
					"read")
			}
			if code := codeOf(e); len(code) != 3 || strings.Trim(code[1:], "0123456789") != "" {
				return textfile.Errorf(e.LineNumber, "the code %.10q is none of Nacha: ask the bank for a new file", code)
			}
		}
	}
	for _, b := range file.Batches {
		settled := settlementDay(b.GetHeader().SettlementDate, created)
		for _, e := range b.GetEntries() {
			if err := v.visit(e, settled); err != nil {
				return err
			}
		}
	}
	return nil
}

// parse lets the library read and check the file.
func parse(r io.Reader) (file ach.File, err error) {
	content, err := io.ReadAll(io.LimitReader(r, MaxFileBytes+1))
	switch {
	case err != nil:
		return file, fmt.Errorf("cannot read the file: %w", err)
	case len(content) > MaxFileBytes:
		return file, textfile.Errorf(0, "the file has more than %d MB: ask the bank for several files", MaxFileBytes>>20)
	case len(bytes.TrimSpace(content)) == 0:
		return file, textfile.Errorf(0, "the file is empty: fetch it again")
	case !HasHeader(content):
		return file, textfile.Errorf(1, "it does not begin with a file header (101): it is another file")
	}
	// A panic of the library is an error of the file, not of the program.
	defer func() {
		if recovered := recover(); recovered != nil {
			err = textfile.Errorf(0, "the file is damaged so that it cannot be read: ask the bank for a new one")
		}
	}()
	reader := ach.NewReader(bytes.NewReader(content))
	reader.SetValidation(readRules)
	if file, err = reader.Read(); err != nil {
		return file, fileError(err)
	}
	if err := file.ValidateWith(readRules); err != nil {
		return file, fileError(err)
	}
	return file, nil
}

// fileError says where the library has found an error.
func fileError(err error) error {
	var list base.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		err = list[0]
	}
	result := &textfile.Error{}
	var parsing *base.ParseError
	if errors.As(err, &parsing) {
		result.Line, err = parsing.Line, parsing.Err
	}
	problem := fieldProblem(err).Error()
	if errors.Is(err, ach.ErrFileControl) {
		problem = "it has no file control record (9), or several: it is truncated, or several files are put together"
	}
	result.Problem = problem + ": fetch the file again, or ask the bank for a new one"
	return result
}

// fieldProblem returns an error of the library without the value that it is about: it may be of a person.
func fieldProblem(err error) error {
	var field *ach.FieldError
	if errors.As(err, &field) {
		return fmt.Errorf("%s: %w", field.FieldName, field.Err)
	}
	var batch *ach.BatchError
	if errors.As(err, &batch) {
		return fmt.Errorf("batch %d: %s: %w", batch.BatchNumber, batch.FieldName, batch.Err)
	}
	return err
}

// codeOf returns the code of a return or notification.
func codeOf(e *ach.EntryDetail) string {
	switch {
	case e.Addenda99 != nil:
		return e.Addenda99.ReturnCode
	case e.Addenda99Dishonored != nil:
		return e.Addenda99Dishonored.DishonoredReturnReasonCode
	case e.Addenda99Contested != nil:
		return e.Addenda99Contested.ContestedReturnCode
	case e.Addenda98 != nil:
		return e.Addenda98.ChangeCode
	case e.Addenda98Refused != nil:
		return e.Addenda98Refused.RefusedChangeCode
	}
	return ""
}

func (v Visitor) visit(e *ach.EntryDetail, settled time.Time) error {
	switch {
	case e.Addenda98 != nil && v.Change != nil:
		return v.Change(changeOf(e, *e.Addenda98))
	case e.Addenda98Refused != nil && v.Change != nil:
		a := *e.Addenda98Refused
		return v.Change(Change{Code: a.RefusedChangeCode, Refused: true, OriginalTrace: a.OriginalTrace,
			Key:   strings.TrimSpace(e.IdentificationNumber),
			Trace: traceOf(e), RDFI: a.OriginalDFI, Data: a.CorrectedData, Line: e.LineNumber})
	case v.Return != nil && e.Addenda98 == nil && e.Addenda98Refused == nil:
		return v.Return(returnOf(e, settled))
	}
	return nil
}

func returnOf(e *ach.EntryDetail, settled time.Time) Return {
	result := Return{Kind: Returned, Code: codeOf(e), Key: strings.TrimSpace(e.IdentificationNumber), Trace: traceOf(e),
		Debit:  e.CreditOrDebit() == "D",
		Amount: money.Amount{Minor: int64(e.Amount), Currency: money.USD}, SettledOn: settled, Line: e.LineNumber}
	switch {
	case e.Addenda99Dishonored != nil:
		a := e.Addenda99Dishonored
		result.Kind, result.OriginalTrace, result.RDFI, result.Information = Dishonored, a.OriginalEntryTraceNumber,
			a.OriginalReceivingDFIIdentification, a.AddendaInformation
	case e.Addenda99Contested != nil:
		a := e.Addenda99Contested
		result.Kind, result.OriginalTrace, result.RDFI = Contested, a.OriginalEntryTraceNumber, a.OriginalReceivingDFIIdentification
	default:
		a := e.Addenda99
		result.OriginalTrace, result.RDFI, result.Information = a.OriginalTrace, a.OriginalDFI, a.AddendaInformation
		result.DiedOn, _ = time.Parse("060102", strings.TrimSpace(a.DateOfDeath))
	}
	result.OriginalTrace, result.RDFI, result.Information = strings.TrimSpace(result.OriginalTrace), strings.TrimSpace(result.RDFI),
		strings.TrimSpace(result.Information)
	return result
}

func changeOf(e *ach.EntryDetail, a ach.Addenda98) Change {
	result := Change{Code: a.ChangeCode, OriginalTrace: a.OriginalTrace, Key: strings.TrimSpace(e.IdentificationNumber), Trace: traceOf(e),
		RDFI: a.OriginalDFI,
		Data: a.CorrectedData, Line: e.LineNumber}
	if c := a.ParseCorrectedData(ach.PartialCorrectedData()); c != nil {
		result.Routing, result.Account, result.Name = c.RoutingNumber, c.AccountNumber, c.Name
		result.TransactionCode, result.Identification = c.TransactionCode, c.Identification
	}
	return result
}

func traceOf(e *ach.EntryDetail) string { return strings.TrimSpace(e.TraceNumber) }

// settlementDay returns the banking day that an operator has written as the number of a day in its year: the one closest to
// the creation of the file, or the day of that if it has written none.
func settlementDay(text string, created time.Time) time.Time {
	number, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || number < 1 || number > 366 || created.IsZero() {
		return created
	}
	var closest time.Time
	for year := created.Year() - 1; year <= created.Year()+1; year++ {
		day := time.Date(year, time.January, number, 0, 0, 0, 0, time.UTC)
		if closest.IsZero() || day.Sub(created).Abs() < closest.Sub(created).Abs() {
			closest = day
		}
	}
	return closest
}
