package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"causeway/core/financials"
	"causeway/core/money"
	"causeway/core/proposal"
)

// operationNames are what proposed changes do; %s is the month or the year of the request.
var operationNames = map[string]string{
	"createLedgerAdjustment": "Post an adjustment", "setRecurringAdjustment": "Set a recurring adjustment",
	"resolveReconciliationBreak": "Correct a break", "assignUnmatched": "Assign unmatched funds",
	"writeOffReceivable":    "Write off a receivable",
	"softCloseLedgerPeriod": "Soft-close %s", "reopenLedgerPeriod": "Reopen %s", "closeLedgerPeriod": "Close %s",
	"postExchangeResult": "Post the exchange result of %s", "postDeferredFees": "Defer fees of %s",
	"postReceivablesAllowance": "Post the allowance for receivables of %s",
	"closeLedgerYear":          "Close the year %s", "reverseLedgerYear": "Reverse the closing of the year %s",
	"createTreasuryTransfer": "Transfer between own accounts", "arriveTreasuryTransfer": "Record that a transfer has arrived",
	"createTreasurySettlement": "Settle with a partner", "createSweep": "Sweep",
	"setSafeguardingAccountPurpose": "Set the purpose of an account", "addLedgerAccount": "Add an account to the chart",
	"changeLedgerAccount": "Change an account of the chart", "setGLMapping": "Map accounts to the general ledger",
	"importOpeningBalances": "Import opening balances", "reverseOpeningBalances": "Reverse opening balances",
	"setLedgerSettings": "Change the accounting policies", "releaseRailPayment": "Release a payment",
}

// changeName says what a proposed change does.
func changeName(p proposal.Proposal) string {
	name := operationNames[p.Operation]
	if name == "" {
		return fieldName(p.Operation)
	}
	if strings.Contains(name, "%s") {
		request, _ := readObject(p.Request)
		return fmt.Sprintf(name, plainText(request.get("month"))+plainText(request.get("year")))
	}
	return name
}

// object is a JSON object whose members are in their order.
type object []member

// member is a member of an object. Its value is nil, a bool, string, json.Number, []any or object.
type member struct {
	name  string
	value any
}

func (o object) get(name string) any {
	if i := slices.IndexFunc(o, func(m member) bool { return m.name == name }); i >= 0 {
		return o[i].value
	}
	return nil
}

// readObject returns a JSON object; false if the document is none.
func readObject(document []byte) (object, bool) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	value, err := readValue(decoder)
	o, isObject := value.(object)
	return o, isObject && err == nil
}

func readValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if delim, isDelim := token.(json.Delim); err == nil && isDelim {
		items, members := []any{}, object{}
		for d.More() && err == nil {
			var m member
			if delim == '{' {
				name, _ := d.Token()
				m.name, _ = name.(string)
			}
			m.value, err = readValue(d)
			items, members = append(items, m.value), append(members, m)
		}
		if err == nil {
			_, err = d.Token() // the closing one
		}
		if delim == '{' {
			return members, err
		}
		return items, err
	}
	return token, err
}

// currencyOf names the fields that are amounts in the smallest unit, with the field that has their currency: one beside them, or one of the
// whole document. In a list, the name of that is before the field.
var currencyOf = map[string]string{"amount": "currency", "boughtAmount": "boughtCurrency", "difference": "currency", "income": "currency",
	"expense": "currency", "result": "currency", "quantity": "currency", "owed": "currency", "before": "currency", "required": "currency",
	"cost": "functionalCurrency", "value": "functionalCurrency", "unrealised": "functionalCurrency", "translated": "functionalCurrency",
	"openingResult": "functionalCurrency", "realised.amount": "functionalCurrency"}

// accountFields are the fields with the path of an account.
var accountFields = []string{"account", "path", "debit", "credit", "from", "to", "balanceAgainst"}

// fieldNames are those of fields whose own is not what people say.
var fieldNames = map[string]string{"note": "Reason", "glCode": "General ledger code", "owed": "Owed for up to 30, 60, 90 and more days",
	"baseVersion": "Replaces version", "path": "Account", "fourEyes": "Need two persons", "required": "Allowance",
	"against":                "Correction against",
	"confirmOpeningBalances": "First month, after opening balances"}

// fieldName returns the name of a field or an operation as words: effectiveAt is Effective.
func fieldName(name string) string {
	if known := fieldNames[name]; known != "" {
		return known
	}
	var words strings.Builder
	for _, letter := range strings.TrimSuffix(strings.TrimSuffix(name, "Id"), "At") {
		if unicode.IsUpper(letter) {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(letter))
	}
	return capital(words.String())
}

// storedDocument shows a request, or the figures that it comes to.
type storedDocument struct {
	base  string
	whole object
}

// documentSections shows a JSON object as facts and tables; none if it is empty.
func documentSections(heading, base string, text []byte) []section {
	o, _ := readObject(text)
	if len(o) == 0 {
		return nil
	}
	return storedDocument{base, o}.sections(heading, o)
}

// sections has the fields of an object as facts, and each list in it as a table or, if its items have lists, as sections.
func (d storedDocument) sections(heading string, o object) []section {
	all := []section{{Heading: heading}}
	for _, m := range o {
		items, _ := m.value.([]any)
		switch {
		case !isObjects(items):
			x := d.cell(o, "", m)
			value := x.Text
			if x.Class == "time" {
				value = moment(x.At)
			}
			if value == "" {
				value = "none" // a field may be emptied
			}
			all[0].Facts = add(all[0].Facts, fieldName(m.name), value, x.Link)
		case slices.ContainsFunc(items[0].(object), func(m member) bool { items, _ := m.value.([]any); return isObjects(items) }):
			for i, item := range items {
				all = append(all, d.sections(fmt.Sprintf("%s %d of %d", fieldName(strings.TrimSuffix(m.name, "s")), i+1, len(items)),
					item.(object))...)
			}
		default:
			all = append(all, section{Heading: fieldName(m.name), Table: d.table(m.name, items)})
		}
	}
	return all
}

// isObjects reports whether a list has objects.
func isObjects(items []any) bool {
	return len(items) > 0 && !slices.ContainsFunc(items, func(item any) bool { _, ok := item.(object); return !ok })
}

func (d storedDocument) table(list string, items []any) *table {
	t := &table{Label: fieldName(list)}
	var names []string
	for _, item := range items {
		for _, m := range item.(object) {
			if !slices.Contains(names, m.name) {
				names = append(names, m.name)
				t.Columns = append(t.Columns, column{fieldName(m.name), d.cell(item.(object), list, m).Class == "amount"})
			}
		}
	}
	for _, item := range items {
		row := make([]cell, len(names))
		for i, name := range names {
			row[i] = d.cell(item.(object), list, member{name, item.(object).get(name)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// cell shows a field of an object, which may be in a list. What has no special form is shown as it is.
func (d storedDocument) cell(o object, list string, m member) cell {
	if currency := d.currency(o, list, m.name); currency.Known() {
		if text := amountText(m.value, currency); text != "" {
			if list == "" || o.get("currency") != any(string(currency)) { // not in a column beside it
				text += " " + string(currency)
			}
			return amountCell(text)
		}
	}
	text := plainText(m.value)
	if _, isNumber := m.value.(json.Number); isNumber && list != "" {
		return amountCell(text)
	}
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case text == "":
	case strings.HasSuffix(m.name, "At") && err == nil:
		return timed(at)
	case m.name == "month" || m.name == "lastMonth":
		return linked(text, d.base+"/trial-balance?by=effective&month="+escapeQuery(text))
	case slices.Contains(accountFields, m.name):
		return linked(text, d.accountLink(o, m.name, text))
	case objectLink(d.base, text) != "":
		return linked(text, objectLink(d.base, text))
	}
	return plain(text)
}

// currency returns the currency of an amount; empty if a field is none, or has none.
func (d storedDocument) currency(o object, list, name string) money.Currency {
	field := currencyOf[list+"."+name]
	if field == "" {
		field = currencyOf[name]
	}
	for _, in := range []object{o, d.whole} {
		if text, ok := in.get(field).(string); ok {
			return money.Currency(text)
		}
	}
	return ""
}

// amountText returns an amount, or several, in major units; empty for what is none.
func amountText(value any, c money.Currency) string {
	items, isList := value.([]any)
	if !isList {
		items = []any{value}
	}
	texts := make([]string, len(items))
	for i, item := range items {
		number, _ := item.(json.Number)
		total, err := money.ParseTotal(number.String())
		if err != nil {
			return ""
		}
		texts[i] = total.Major(c)
	}
	return strings.Join(texts, " / ")
}

// accountLink leads to the entries of an account in the currency of the object or, if it has none, to the account in each currency. A path
// without a currency may be that of an account which does not exist yet.
func (d storedDocument) accountLink(o object, name, path string) string {
	currency, _ := o.get("currency").(string)
	if bought, ok := o.get("boughtCurrency").(string); ok && name == "to" {
		currency = bought
	}
	switch {
	case currency != "":
		return figureLink(d.base, path, money.Currency(currency), financials.Entries{}, "")
	case name == "path":
		return ""
	}
	return d.base + "/trial-balance?detail=account&group=" + escapeQuery(path)
}

// plainText returns a value as it is.
func plainText(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case bool:
		if value {
			return "yes"
		}
		return "no"
	case []any:
		texts := make([]string, len(value))
		for i, item := range value {
			texts[i] = plainText(item)
		}
		if len(texts) == 0 {
			return "none"
		}
		return strings.Join(texts, ", ")
	case object:
		texts := make([]string, len(value))
		for i, m := range value {
			texts[i] = fieldName(m.name) + " " + plainText(m.value)
		}
		return strings.Join(texts, ", ")
	}
	return fmt.Sprint(value)
}
