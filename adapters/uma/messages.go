package uma

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/core/uma"
)

// Messages have numbers as they are written, so that no amount or multiplier is ever a float.

type lnurlResponse struct {
	Tag         string           `json:"tag"`
	Callback    string           `json:"callback"`
	MinSendable int64            `json:"minSendable"`
	MaxSendable int64            `json:"maxSendable"`
	Metadata    string           `json:"metadata"`
	Currencies  []currencyOption `json:"currencies,omitempty"`
	PayerData   fieldOptions     `json:"payerData,omitempty"`
	Compliance  *lnurlCompliance `json:"compliance,omitempty"`
	UMAVersion  string           `json:"umaVersion,omitempty"`
}

type currencyOption struct {
	Code        string      `json:"code"`
	Name        string      `json:"name"`
	Symbol      string      `json:"symbol"`
	Multiplier  json.Number `json:"multiplier"`
	Convertible struct {
		Min int64 `json:"min"`
		Max int64 `json:"max"`
	} `json:"convertible"`
	Decimals int `json:"decimals"`
}

func newCurrencyOption(c uma.Currency) currencyOption {
	o := currencyOption{Code: string(c.Code), Name: c.Code.Name(), Symbol: c.Code.Symbol(), Multiplier: json.Number(c.Multiplier.String()),
		Decimals: c.Decimals}
	o.Convertible.Min, o.Convertible.Max = c.Min, c.Max
	return o
}

// currency returns the currency; one that is not usable has the zero multiplier.
func (o currencyOption) currency() uma.Currency {
	multiplier, err := money.ParseRate(o.Multiplier.String())
	if err != nil {
		multiplier = money.Rate{}
	}
	return uma.Currency{Code: money.Currency(o.Code), Decimals: o.Decimals, Multiplier: multiplier, Min: o.Convertible.Min,
		Max: min(o.Convertible.Max, money.MaxMinor)}
}

type lnurlCompliance struct {
	KYCStatus             string `json:"kycStatus"`
	Signature             string `json:"signature"`
	Nonce                 string `json:"signatureNonce"`
	Timestamp             int64  `json:"signatureTimestamp"`
	IsSubjectToTravelRule bool   `json:"isSubjectToTravelRule"`
	ReceiverIdentifier    string `json:"receiverIdentifier"`
}

// fieldOptions are the fields that are wanted, and whether each is mandatory.
type fieldOptions map[string]struct {
	Mandatory bool `json:"mandatory"`
}

// newFieldOptions returns the wanted facts, and what every message has.
func newFieldOptions(wanted []transaction.InfoField) fieldOptions {
	options := fieldOptions{}
	set := func(name string, mandatory bool) {
		options[name] = struct {
			Mandatory bool `json:"mandatory"`
		}{mandatory}
	}
	for _, field := range wanted {
		set(uma.WireName(field.Name), field.Mandatory)
	}
	set(uma.FieldIdentifier, true)
	set(uma.FieldCompliance, true)
	return options
}

// facts returns the wanted facts, ordered by name.
func (o fieldOptions) facts() []transaction.InfoField {
	var fields []transaction.InfoField
	for _, name := range sortedKeys(o) {
		if name != uma.FieldIdentifier && name != uma.FieldCompliance && len(name) <= 64 && len(fields) < uma.MaxFields {
			fields = append(fields, transaction.InfoField{Name: uma.FactName(name), Mandatory: o[name].Mandatory})
		}
	}
	return fields
}

type payRequest struct {
	Convert   string          `json:"convert"`
	Amount    string          `json:"amount"` // and .CODE, if it is not in millisatoshi
	PayerData json.RawMessage `json:"payerData"`
	PayeeData fieldOptions    `json:"payeeData,omitempty"`
	Invoice   string          `json:"invoiceUUID,omitempty"` // the id of the UMA invoice that is paid
}

func newPayRequest(ask uma.Ask) payRequest {
	p := payRequest{Convert: string(ask.Currency), Amount: strconv.FormatInt(ask.Msats, 10)}
	if ask.Amount != 0 {
		p.Amount = strconv.FormatInt(ask.Amount, 10) + "." + string(ask.Currency)
	}
	return p
}

// ask returns what a pay request asks for.
func (p payRequest) ask() (uma.Ask, error) {
	text, code, inCurrency := strings.Cut(p.Amount, ".")
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 1:
		return uma.Ask{}, uma.Refuse(uma.InvalidInput, "amount must be a whole number of millisatoshi, or of a currency as in 100.USD")
	case p.Convert == "":
		return uma.Ask{}, uma.Refuse(uma.MissingUMAParameters, "convert must be the currency that the receiver gets")
	case inCurrency && code != p.Convert:
		return uma.Ask{}, uma.Refuse(uma.InvalidCurrency, "amount must be in millisatoshi or in the currency of convert")
	case inCurrency && n > money.MaxMinor:
		return uma.Ask{}, uma.Refuse(uma.AmountOutOfRange, "amount is too large")
	case inCurrency:
		return uma.Ask{Currency: money.Currency(p.Convert), Amount: n}, nil
	case n < 1000:
		return uma.Ask{}, uma.Refuse(uma.AmountOutOfRange, "amount must be at least a satoshi: 1000 millisatoshi")
	}
	return uma.Ask{Currency: money.Currency(p.Convert), Msats: n}, nil
}

// personData is payerData or payeeData: an identifier, compliance data of type C, and facts, which are texts.
type personData[C any] struct {
	identifier string
	compliance *C
	facts      map[string]string
}

func (d personData[C]) encode() (json.RawMessage, error) {
	fields := map[string]any{uma.FieldIdentifier: d.identifier, uma.FieldCompliance: d.compliance}
	for name, value := range d.facts {
		fields[name] = value
	}
	return json.Marshal(fields)
}

func decodePersonData[C any](text json.RawMessage) (personData[C], error) {
	var d personData[C]
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return d, errors.New("must be an object")
	}
	if err := json.Unmarshal(fields[uma.FieldIdentifier], &d.identifier); err != nil || d.identifier == "" {
		return d, errors.New("must have an identifier")
	}
	if err := json.Unmarshal(fields[uma.FieldCompliance], &d.compliance); err != nil || d.compliance == nil {
		return d, errors.New("must have compliance")
	}
	stated := map[string]string{}
	for name, value := range fields {
		var fact string
		if json.Unmarshal(value, &fact) == nil {
			stated[name] = fact
		}
	}
	d.facts = uma.Facts(stated)
	return d, nil
}

type payerCompliance struct {
	KYCStatus               string   `json:"kycStatus"`
	UTXOs                   []string `json:"utxos"`
	EncryptedTravelRuleInfo string   `json:"encryptedTravelRuleInfo,omitempty"`
	Signature               string   `json:"signature"`
	SignatureNonce          string   `json:"signatureNonce"`
	SignatureTimestamp      int64    `json:"signatureTimestamp"`
	UTXOCallback            string   `json:"utxoCallback"`
}

type payeeCompliance struct {
	UTXOs              []string `json:"utxos"`
	UTXOCallback       string   `json:"utxoCallback"`
	Signature          string   `json:"signature"`
	SignatureNonce     string   `json:"signatureNonce"`
	SignatureTimestamp int64    `json:"signatureTimestamp"`
}

type payResponse struct {
	Invoice string     `json:"pr"`
	Routes  []struct{} `json:"routes"` // always empty: an invoice has them
	// Disposable is false: the address may be kept, and paid again (LUD-11).
	Disposable bool            `json:"disposable"`
	Converted  *converted      `json:"converted"`
	PayeeData  json.RawMessage `json:"payeeData"`
}

type converted struct {
	Amount       int64       `json:"amount"`
	CurrencyCode string      `json:"currencyCode"`
	Decimals     int         `json:"decimals"`
	Multiplier   json.Number `json:"multiplier"`
	Fee          int64       `json:"fee"`
}

// answer returns what a response says, with its invoice.
func (p payResponse) answer() (uma.Answer, error) {
	if p.Converted == nil {
		return uma.Answer{}, errors.New("it has no converted")
	}
	invoice, err := lightning.ParseInvoice(p.Invoice)
	if err != nil {
		return uma.Answer{}, fmt.Errorf("pr %w", err)
	}
	multiplier, err := money.ParseRate(p.Converted.Multiplier.String())
	if err != nil {
		return uma.Answer{}, fmt.Errorf("converted.multiplier: %w", err)
	}
	return uma.Answer{Request: p.Invoice, Invoice: invoice, Currency: money.Currency(p.Converted.CurrencyCode), Decimals: p.Converted.Decimals,
		Amount: p.Converted.Amount, Multiplier: multiplier, Fee: p.Converted.Fee}, nil
}

// failure is an answer that refuses a request.
type failure struct {
	Status                 string `json:"status"`
	Reason                 string `json:"reason"`
	Code                   string `json:"code,omitempty"`
	UnsupportedVersion     string `json:"unsupportedVersion,omitempty"`
	SupportedMajorVersions []int  `json:"supportedMajorVersions,omitempty"`
}
