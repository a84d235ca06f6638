package uma

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/money"
	"causeway/core/transaction"
)

// Invoice asks for a payment to a person, and is signed by the person's provider (umad-09).
type Invoice struct {
	// ID is chosen by the provider of the receiver, and is the key of the payment.
	ID uuid.UUID
	// Receiver and Sender are UMA addresses in lower case; Sender is empty if anybody may pay.
	Receiver, Sender string
	// Amount is what the receiver gets, in the smallest unit of Currency, which has Decimals.
	Amount    int64
	Currency  money.Currency
	Decimals  int
	ExpiresAt time.Time
	// TravelRule: the provider of the receiver is subject to the travel rule.
	TravelRule bool
	// Wanted are the facts about the payer that the provider of the receiver wants.
	Wanted []transaction.InfoField
	// Callback is the URL for the pay request.
	Callback string
}

// InvoicePrefix is what invoices begin with.
const InvoicePrefix = "uma1"

const (
	// MaxInvoice is how many bytes of an invoice are read.
	MaxInvoice = 3000
	// MaxInvoiceTime is how far ahead an invoice may expire. What is known of it is kept for longer, so that it is not paid twice.
	MaxInvoiceTime = 366 * 24 * time.Hour
)

// The fields of an invoice, and those of its currency.
const (
	fieldReceiver   = 0
	fieldID         = 1
	fieldAmount     = 2
	fieldCurrency   = 3
	fieldExpiration = 4
	fieldTravelRule = 5
	fieldWanted     = 6
	fieldVersions   = 7
	fieldSender     = 9
	fieldPayments   = 10
	fieldKYCStatus  = 11
	fieldCallback   = 12
	fieldSignature  = 100

	currencyCode     = 0
	currencyName     = 1
	currencySymbol   = 2
	currencyDecimals = 3
)

var errLongField = errors.New("a field is longer than 255 bytes")

func appendField(to []byte, field byte, value []byte) ([]byte, error) {
	if len(value) > 255 {
		return nil, errLongField
	}
	return append(append(to, field, byte(len(value))), value...), nil
}

func appendFields(fields ...invoiceField) (content []byte, err error) {
	for _, f := range fields {
		if content, err = appendField(content, f.number, f.value); err != nil {
			return nil, err
		}
	}
	return content, nil
}

type invoiceField struct {
	number byte
	value  []byte
}

// invoiceNumber writes a number as most providers do: a signed one of 1, 2, 4 or 8 bytes.
func invoiceNumber(n int64) []byte {
	whole := binary.BigEndian.AppendUint64(nil, uint64(n)) //nolint:gosec // not negative
	for _, size := range []int{1, 2, 4} {
		if n < 1<<(8*size-1) {
			return whole[8-size:]
		}
	}
	return whole
}

// Encode returns the text of an invoice that can be paid once; sign returns the signature of a text, in hexadecimal.
func (i Invoice) Encode(sign func(text string) string) (string, error) {
	currency, err := appendFields(invoiceField{currencyCode, []byte(i.Currency)}, invoiceField{currencyName, []byte(i.Currency.Name())},
		invoiceField{currencySymbol, []byte(i.Currency.Symbol())}, invoiceField{currencyDecimals, invoiceNumber(int64(i.Decimals))})
	if err != nil {
		return "", err
	}
	travelRule := []byte{0}
	if i.TravelRule {
		travelRule = []byte{1}
	}
	fields := []invoiceField{{fieldReceiver, []byte(i.Receiver)}, {fieldID, []byte(i.ID.String())}, {fieldAmount, invoiceNumber(i.Amount)},
		{fieldCurrency, currency}, {fieldExpiration, invoiceNumber(i.ExpiresAt.Unix())}, {fieldTravelRule, travelRule},
		{fieldWanted, []byte(wantedText(i.Wanted))}, {fieldVersions, []byte(Version)}}
	if i.Sender != "" {
		fields = append(fields, invoiceField{fieldSender, []byte(i.Sender)})
	}
	fields = append(fields, invoiceField{fieldPayments, invoiceNumber(1)}, invoiceField{fieldKYCStatus, []byte("VERIFIED")},
		invoiceField{fieldCallback, []byte(i.Callback)})
	content, err := appendFields(fields...)
	if err != nil {
		return "", err
	}
	signature, err := hex.DecodeString(sign(string(content)))
	if err == nil {
		content, err = appendField(content, fieldSignature, signature)
	}
	if err != nil {
		return "", err
	}
	groups, err := bech32.ConvertBits(content, 8, 5, true)
	if err != nil {
		return "", err
	}
	return bech32.Encode("uma", groups)
}

// wantedText returns the wanted facts, and what every message has.
func wantedText(wanted []transaction.InfoField) string {
	names := []string{FieldIdentifier + ":1", FieldCompliance + ":1"}
	for _, field := range wanted {
		mandatory := ":0"
		if field.Mandatory {
			mandatory = ":1"
		}
		names = append(names, WireName(field.Name)+mandatory)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// SignedInvoice is an invoice as it was read, with what was signed.
type SignedInvoice struct {
	Invoice
	signed, signature string
}

// Verify returns an error unless the signature is that of a public key.
func (i SignedInvoice) Verify(publicKey []byte) error {
	return Verify(publicKey, i.signed, i.signature)
}

// ParseInvoice reads an invoice, whose signature is not checked. The error, a Refusal, says what is wrong with it.
func ParseInvoice(text string) (SignedInvoice, error) {
	bad := func(message string) (SignedInvoice, error) {
		return SignedInvoice{}, refuse(InvalidInvoice, "the UMA invoice "+message)
	}
	if len(text) > MaxInvoice {
		return bad(fmt.Sprintf("is longer than %d letters", MaxInvoice))
	}
	prefix, groups, err := bech32.DecodeNoLimit(text)
	if err != nil || prefix != "uma" {
		return bad("has a wrong letter, or is none")
	}
	content, err := bech32.ConvertBits(groups, 5, 8, false)
	if err != nil {
		return bad("has a wrong letter, or is none")
	}
	fields, signed, err := readInvoiceFields(content)
	if err != nil {
		return bad(err.Error())
	}
	i := SignedInvoice{signed: string(signed), signature: hex.EncodeToString(fields[fieldSignature])}
	if err := i.read(fields); err != nil {
		return bad(err.Error())
	}
	return i, nil
}

// readInvoiceFields returns the fields of an invoice, and the bytes before its signature, which has to be the last one.
func readInvoiceFields(content []byte) (fields map[byte][]byte, signed []byte, err error) {
	fields = map[byte][]byte{}
	for rest := content; len(rest) > 0; {
		if len(rest) < 2 || len(rest) < 2+int(rest[1]) {
			return nil, nil, errors.New("is incomplete")
		}
		number, value := rest[0], rest[2:2+int(rest[1])]
		if _, twice := fields[number]; twice {
			return nil, nil, fmt.Errorf("has the field %d twice", number)
		}
		if _, ended := fields[fieldSignature]; ended {
			return nil, nil, errors.New("has a field after its signature")
		}
		if number == fieldSignature {
			signed = content[:len(content)-len(rest)]
		}
		fields[number], rest = value, rest[2+len(value):]
	}
	return fields, signed, nil
}

func (i *SignedInvoice) read(fields map[byte][]byte) (err error) {
	for _, number := range []byte{fieldReceiver, fieldID, fieldAmount, fieldCurrency, fieldExpiration, fieldTravelRule,
		fieldVersions, fieldCallback, fieldSignature} {
		if len(fields[number]) == 0 {
			return fmt.Errorf("has no field %d", number)
		}
	}
	currency, _, err := readInvoiceFields(fields[fieldCurrency])
	if err != nil {
		return fmt.Errorf("has a currency that %w", err)
	}
	// Some providers write numbers as decimal digits. The seconds of any time have ten of them, and are no number of eight bytes.
	number := binaryNumber
	if len(fields[fieldExpiration]) > 8 {
		number = decimalNumber
	}
	read := func(name string, value []byte, maximum int64) int64 {
		n, ok := number(value)
		if err == nil && (!ok || n > maximum) {
			err = fmt.Errorf("has %s that is not possible", name)
		}
		return n
	}
	i.Amount = read("an amount", fields[fieldAmount], money.MaxMinor)
	i.Decimals = int(read("decimals", currency[currencyDecimals], 30))
	i.ExpiresAt = time.Unix(read("an expiry", fields[fieldExpiration], maxSeconds), 0).UTC()
	if err != nil {
		return err
	}
	address := func(name string, value []byte) string {
		parsed, ok := customer.ParseUMAAddress(string(value))
		if err == nil && !ok {
			err = errors.New("has " + name + " that is no UMA address")
		}
		return parsed
	}
	i.Receiver = address("a receiver", fields[fieldReceiver])
	if sender := fields[fieldSender]; len(sender) > 0 {
		i.Sender = address("a sender", sender)
	}
	if err != nil {
		return err
	}
	if i.ID, err = uuid.ParseBytes(fields[fieldID]); err != nil || len(fields[fieldID]) != 36 {
		return errors.New("has an id that is no UUID")
	}
	i.Currency, i.Callback = money.Currency(currency[currencyCode]), string(fields[fieldCallback])
	i.TravelRule = fields[fieldTravelRule][0] != 0
	if i.Amount < 1 {
		return errors.New("is for no amount")
	}
	if !utf8.ValidString(i.Callback) || !utf8.Valid(fields[fieldWanted]) {
		return errors.New("has a text that is not UTF-8")
	}
	i.Wanted = readWanted(string(fields[fieldWanted]))
	if !slices.ContainsFunc(strings.Split(string(fields[fieldVersions]), ","), SupportsVersion) {
		return errors.New("is of another version of UMA")
	}
	return nil
}

// maxSeconds is the last second of the year 9999.
const maxSeconds = 253_402_300_799

func binaryNumber(value []byte) (int64, bool) {
	if len(value) < 1 || len(value) > 8 || len(value) == 8 && value[0] > 127 {
		return 0, false
	}
	var n int64
	for _, b := range value {
		n = n<<8 | int64(b)
	}
	return n, true
}

func decimalNumber(value []byte) (int64, bool) {
	n, err := strconv.ParseUint(string(value), 10, 63)
	return int64(n), err == nil //nolint:gosec // of 63 bits
}

// readWanted reads "name:1,email:0".
func readWanted(text string) (wanted []transaction.InfoField) {
	for pair := range strings.SplitSeq(text, ",") {
		name, mandatory, ok := strings.Cut(pair, ":")
		if !ok || name == "" || name == FieldIdentifier || name == FieldCompliance || len(wanted) >= MaxFields {
			continue
		}
		wanted = append(wanted, transaction.InfoField{Name: FactName(name), Mandatory: mandatory == "1"})
	}
	slices.SortFunc(wanted, func(a, b transaction.InfoField) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(wanted, func(a, b transaction.InfoField) bool { return a.Name == b.Name })
}

// Issuer returns the domain of the provider that has signed the invoice: that of the receiver.
func (i Invoice) Issuer() string {
	_, domain := customer.SplitUMAAddress(i.Receiver)
	return domain
}

// CheckPayable returns an error unless the invoice can be paid now, in a currency that both sides mean the same by.
func (i Invoice) CheckPayable(now time.Time) error {
	switch {
	case !i.ExpiresAt.After(now):
		return refuse(InvoiceExpired, "the UMA invoice has expired")
	case i.ExpiresAt.After(now.Add(MaxInvoiceTime)):
		return refuse(InvalidInvoice, "the UMA invoice expires more than a year ahead")
	case !i.Currency.Payable() || i.Decimals != i.Currency.Decimals():
		return refuse(InvalidCurrency, fmt.Sprintf("the UMA invoice is in a currency that is not known: %.8q", string(i.Currency)))
	}
	return nil
}

// CheckAsk returns an error unless a pay request asks for what the invoice is about, from who may pay it.
func (i Invoice) CheckAsk(ask Ask, sender string, now time.Time) error {
	switch {
	case !i.ExpiresAt.After(now):
		return refuse(InvoiceExpired, "the UMA invoice has expired")
	case i.Sender != "" && i.Sender != sender:
		return refuse(SenderNotAccepted, "the UMA invoice is for another sender")
	case ask.Currency != i.Currency || ask.Amount != i.Amount:
		return refuse(InvalidInvoice, fmt.Sprintf("the UMA invoice is for %d.%s", i.Amount, i.Currency))
	}
	return nil
}
