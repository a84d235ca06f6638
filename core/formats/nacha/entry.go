package nacha

import (
	"errors"
	"fmt"
	"strings"

	"github.com/moov-io/ach"

	"causeway/core/money"
	"causeway/core/plaintext"
)

// EntryError says why an entry cannot be written, and what to do. It names no person and no account.
type EntryError struct {
	Key     string
	Problem string
}

func (e *EntryError) Error() string { return fmt.Sprintf("entry %q: %s", e.Key, e.Problem) }

// Limits of the format.
const (
	maxAccount = 17
	maxName    = 22
	maxAddenda = 80
)

// MaxCompanyName is the length of the name that receivers see.
const MaxCompanyName = 16

// IsCompanyName reports whether files can carry a name as that of the company.
func IsCompanyName(name string) bool {
	return len(name) <= MaxCompanyName && ascii(name) == name && strings.Trim(name, " 0") != ""
}

// CheckEntry returns an EntryError if an entry cannot be written in this batch.
func (b Batch) CheckEntry(e Entry) error {
	var problem string
	switch {
	case e.Sequence < 1 || e.Sequence > MaxSequence:
		problem = fmt.Sprintf("its sequence %d is not between 1 and %d", e.Sequence, MaxSequence)
	case len(e.Key) == 0 || len(e.Key) > keyLength || ascii(e.Key) != e.Key:
		problem = fmt.Sprintf("its key is empty, longer than %d characters, or not in ASCII", keyLength)
	case len(e.EndToEndID) > maxAddenda || ascii(e.EndToEndID) != e.EndToEndID:
		problem = fmt.Sprintf("its end-to-end id is longer than %d characters, or not in ASCII", maxAddenda)
	case e.Amount.Currency != money.USD:
		problem = fmt.Sprintf("its currency is %q: ACH takes USD", e.Amount.Currency)
	case e.Amount.Minor <= 0:
		problem = "its amount is not above zero"
	case e.Amount.Minor > ach.NachaEntryAmountLimit:
		problem = "its amount is above 99,999,999.99, the most that ACH takes: divide it, or send it by wire"
	case ach.CheckRoutingNumber(e.Routing) != nil:
		problem = "the routing number has wrong digits: compare it with the contract"
	case e.Account == "" || len(e.Account) > maxAccount || ascii(e.Account) != e.Account || strings.Trim(e.Account, " 0") == "":
		problem = fmt.Sprintf("the account number is empty or zero, longer than %d characters, or not in ASCII", maxAccount)
	case strings.Trim(ascii(e.Name), " .0") == "":
		problem = "the name of the receiver is empty or in a script that banks do not take: write it in Latin letters"
	default:
		return nil
	}
	return &EntryError{e.Key, problem}
}

// check checks a batch without its entries.
func (b Batch) check() error {
	switch {
	case b.Class != PPD && b.Class != CCD && b.Class != WEB:
		return fmt.Errorf("the class %q is none of PPD, CCD and WEB", b.Class)
	case b.Class == WEB && !b.Debit:
		return errors.New("the class WEB is for debits: pay consumers with PPD")
	case !IsCompanyName(b.CompanyName):
		return fmt.Errorf("the company's name %q is empty, longer than %d characters, or not in ASCII", b.CompanyName, MaxCompanyName)
	case len(b.CompanyID) > 10 || ascii(b.CompanyID) != b.CompanyID || strings.Trim(b.CompanyID, " 0") == "":
		return fmt.Errorf("the company's id %q is empty, longer than 10 characters, or not in ASCII: ask the bank which it expects", b.CompanyID)
	case len(b.CompanyData) > 20 || ascii(b.CompanyData) != b.CompanyData:
		return fmt.Errorf("the company's data %q is longer than 20 characters, or not in ASCII", b.CompanyData)
	case len(b.Description) > 10 || ascii(b.Description) != b.Description || strings.Trim(b.Description, " 0") == "":
		return fmt.Errorf("the description %q is empty, longer than 10 characters, or not in ASCII", b.Description)
	case len(b.ODFI) != 8 && ach.CheckRoutingNumber(b.ODFI) != nil || strings.Trim(b.ODFI, "0123456789") != "":
		return fmt.Errorf("the ODFI %q is not a routing number", b.ODFI)
	case b.EffectiveOn.IsZero():
		return errors.New("it has no day on which to settle")
	case b.Entries == nil:
		return errors.New("it has no entries")
	}
	return nil
}

func (b Batch) header(number int) *ach.BatchHeader {
	h := ach.NewBatchHeader()
	h.ServiceClassCode = ach.CreditsOnly
	if b.Debit {
		h.ServiceClassCode = ach.DebitsOnly
	}
	h.CompanyName, h.CompanyIdentification, h.CompanyDiscretionaryData = b.CompanyName, b.CompanyID, b.CompanyData
	h.StandardEntryClassCode, h.CompanyEntryDescription = string(b.Class), b.Description
	h.EffectiveEntryDate, h.ODFIIdentification, h.BatchNumber = b.EffectiveOn.Format("060102"), b.ODFI[:8], number
	return h
}

func (b Batch) detail(e Entry) *ach.EntryDetail {
	d := ach.NewEntryDetail()
	switch {
	case b.Debit && e.Savings:
		d.TransactionCode = ach.SavingsDebit
	case b.Debit:
		d.TransactionCode = ach.CheckingDebit
	case e.Savings:
		d.TransactionCode = ach.SavingsCredit
	default:
		d.TransactionCode = ach.CheckingCredit
	}
	d.SetRDFI(e.Routing)
	d.DFIAccountNumber, d.Amount, d.IdentificationNumber = e.Account, int(e.Amount.Minor), e.Key
	name := ascii(e.Name)
	d.IndividualName = strings.TrimRight(name[:min(len(name), maxName)], " ")
	if b.Class == WEB {
		d.SetPaymentType("S") // a single payment: each collection is ordered by itself
	}
	d.TraceNumber = TraceNumber(b.ODFI, e.Sequence)
	if text := e.addenda(); text != "" {
		addenda := ach.NewAddenda05()
		addenda.PaymentRelatedInformation = text
		d.AddAddenda05(addenda)
		d.AddendaRecordIndicator = 1
	}
	return d
}

// addenda returns the text of the only addenda record that the classes allow.
func (e Entry) addenda() string {
	text := ascii(e.Remittance)
	if strings.Trim(text, " .") == "" { // in a script that banks do not take
		return e.EndToEndID
	}
	return strings.TrimRight(text[:min(len(text), maxAddenda)], " ")
}

// TraceNumber returns the trace number of an entry: 15 digits, of which the first eight are the ODFI.
func TraceNumber(odfi string, sequence int) string { return fmt.Sprintf("%.8s%07d", odfi, sequence) }

// ascii returns a text in the characters that the format knows.
func ascii(text string) string {
	var result strings.Builder
	for _, r := range text {
		if ' ' <= r && r <= '~' {
			result.WriteRune(r)
		} else {
			result.WriteString(plaintext.Transliterate(string(r)))
		}
	}
	return result.String()
}
