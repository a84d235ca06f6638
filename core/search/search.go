// Package search reads what a person enters to find something: what it may name, and the keys by which it is found where the values
// themselves are encrypted.
package search

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/core/screening"
)

// MaxLength is the length of a text that is searched for, in bytes. Nothing has a longer name or number that is found as a whole.
const MaxLength = 200

// Query is what a text may name. Empty fields are what it cannot be.
type Query struct {
	Text string
	// ID is an id; Prefix says of what, such as Transaction. It is empty for an id without one, and for the id of a payment as it
	// travels to a bank.
	ID     uuid.UUID
	Prefix string
	// UMA is a UMA address in lower case.
	UMA string
	// Amounts is one amount with its currency, such as 12.50 EUR; one with decimals alone, such as 12.50, is of every currency.
	Amounts []money.Amount
	// Partner are the forms in which a partner, a chain or a node may name a payment.
	Partner []string
	// Words are those of a name.
	Words []string
	// Number is that of an account, or its last four characters.
	Number string
}

// Parse returns what a text may name.
func Parse(text string) Query {
	text = strings.TrimSpace(text)
	if len(text) > MaxLength || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return Query{}
	}
	q := Query{Text: text}
	if text == "" {
		return q
	}
	if prefix, id, has := strings.Cut(text, ":"); has {
		if parsed, err := uuid.Parse(id); err == nil {
			q.ID, q.Prefix = parsed, prefix
			return q
		}
	}
	if parsed, err := uuid.Parse(text); err == nil {
		q.ID = parsed
	}
	if strings.HasPrefix(text, "$") {
		q.UMA = strings.ToLower(text)
		return q
	}
	q.Amounts = parseAmounts(text)
	if !strings.ContainsFunc(text, unicode.IsSpace) {
		q.Partner = []string{text}
		if lower := strings.ToLower(text); lower != text {
			q.Partner = append(q.Partner, lower)
		}
	}
	if number := canonical(text); q.ID == uuid.Nil && len(number) >= lastLength && strings.ContainsAny(number, "0123456789") {
		q.Number = number
	}
	if q.ID == uuid.Nil && len(q.Amounts) == 0 && strings.ContainsFunc(text, unicode.IsLetter) {
		q.Words = nameWords(text)
	}
	return q
}

// parseAmounts reads an amount with the code of its currency before or after it, or one with decimals alone, which any currency may have.
// The decimal mark is a point or a comma.
func parseAmounts(text string) (all []money.Amount) {
	number, currencies := text, []money.Currency(nil)
	switch parts := strings.Fields(text); {
	case len(parts) == 1 && strings.ContainsAny(text, ".,"):
		currencies = money.Currencies()
	case len(parts) == 2:
		for i, part := range parts {
			if currency := money.Currency(strings.ToUpper(part)); currency.Known() {
				number, currencies = parts[1-i], []money.Currency{currency}
			}
		}
	}
	for _, currency := range currencies {
		minor, err := reconcile.ParseAmount(number, currency, '.', ',')
		if err != nil {
			minor, err = reconcile.ParseAmount(number, currency, ',', '.')
		}
		if err == nil && minor > 0 {
			all = append(all, money.Amount{Minor: minor, Currency: currency})
		}
	}
	return all
}

// CurrenciesByMinor returns the amounts: the currencies that may have each number of smallest units.
func (q Query) CurrenciesByMinor() map[int64][]money.Currency {
	all := map[int64][]money.Currency{}
	for _, a := range q.Amounts {
		all[a.Minor] = append(all[a.Minor], a.Currency)
	}
	return all
}

const (
	// lastLength is how many of the last characters of an account number find it.
	lastLength = 4
	// maxWords is how many words of a name are keys.
	maxWords = 12
)

// nameWords returns the words of a name that are keys: those of two letters and more, each once.
func nameWords(name string) (words []string) {
	seen := map[string]bool{}
	for _, word := range screening.Words(name) {
		if utf8.RuneCountInString(word) >= 2 && !seen[word] && len(words) < maxWords {
			words, seen[word] = append(words, word), true
		}
	}
	return words
}

// canonical returns the letters and digits of an account number, in capitals.
func canonical(number string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, number)
}

// Key is a hash of a value and its platform. It is stored only as a keyed hash of it, because short values are guessed from a plain one.
type Key string

func newKey(p ident.Platform, kind, value string) Key {
	sum := sha256.Sum256([]byte("causeway search 1\x00" + kind + "\x00" + p.String() + "\x00" + value))
	return Key(hex.EncodeToString(sum[:]))
}

func wordKeys(p ident.Platform, words []string) []Key {
	keys := make([]Key, len(words))
	for i, word := range words {
		keys[i] = newKey(p, "word", word)
	}
	return keys
}

// KeysOfCustomer returns the keys by which a customer is found: the words of its name. One that was erased has none.
func KeysOfCustomer(c customer.Customer) []Key { return wordKeys(c.Platform, nameWords(c.Name())) }

// KeysOfAccount returns the keys by which an external account is found: its number, and the last characters of that.
func KeysOfAccount(a account.External) []Key {
	number := canonical(a.Identifier())
	if len(number) < lastLength {
		return nil
	}
	runes := []rune(number)
	keys := []Key{newKey(a.Platform, "number", number)}
	if last := string(runes[max(0, len(runes)-lastLength):]); last != number {
		keys = append(keys, newKey(a.Platform, "number", last))
	}
	return keys
}

// NameKeys returns the keys that a customer whom the query names has all of; none if it is no name.
func (q Query) NameKeys(p ident.Platform) []Key { return wordKeys(p, q.Words) }

// NumberKey returns the key of the accounts that the query names; empty if it is no number.
func (q Query) NumberKey(p ident.Platform) Key {
	if q.Number == "" {
		return ""
	}
	return newKey(p, "number", q.Number)
}
