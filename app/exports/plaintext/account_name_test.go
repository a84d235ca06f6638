package plaintext

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// pathGenerator draws paths of the chart of accounts.
var pathGenerator = rapid.Custom(func(t *rapid.T) string {
	line := rapid.SampledFrom(ledger.Chart()).Draw(t, "line")
	first, rest, _ := strings.Cut(line.Path, "/")
	switch rest {
	case "<InternalAccount>":
		var id ident.InternalAccount
		id.SetUUID(uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Filter(func(b []byte) bool { return uuid.UUID(b) != uuid.Nil }).Draw(t, "id")))
		return first + "/" + id.String()
	case "<RAIL>", "<network>", "<NAME>":
		return first + "/" + rapid.StringMatching(`[A-Z0-9_]{1,40}`).Draw(t, "name")
	case "<name>":
		return first + "/" + rapid.StringMatching(`[a-z][a-z0-9]{0,10}(-[a-z0-9]{1,9}){0,2}`).Filter(
			func(name string) bool { return name != "opening-balances" }).Draw(t, "name")
	default:
		return line.Path
	}
})

// beancountNameRegexp matches account names that beancount accepts; hledger and ledger accept
// more.
var beancountNameRegexp = regexp.MustCompile(`^(Assets|Liabilities|Equity|Income|Expenses)(:[A-Z0-9][A-Za-z0-9-]*)+$`)

func TestAccountName_ValidAndUnique(t *testing.T) {
	t.Parallel()
	// Every account of the chart has a name that all three programs accept, and no two accounts
	// have the same name.
	rapid.Check(t, func(t *rapid.T) {
		a, b := pathGenerator.Draw(t, "a"), pathGenerator.Draw(t, "b")
		nameA, errA := AccountName(a)
		nameB, errB := AccountName(b)
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		if !beancountNameRegexp.MatchString(nameA) {
			t.Errorf("%s becomes %s", a, nameA)
		}
		if (a == b) != (nameA == nameB) || nameA == openingAccount {
			t.Errorf("%s and %s become %s and %s", a, b, nameA, nameB)
		}
	})
	for path, want := range map[string]string{
		"income/fees": "Income:Fees", "expense/rails": "Expenses:Rails", "fx/position": "Equity:Fx:Position",
		"rails/SEPA_INSTANT": "Assets:Rails:SEPA-INSTANT",
		"rails/_X":           "Assets:Rails:Xu-X", "rails/_": "Assets:Rails:Xu-", "rails/__": "Assets:Rails:Xu--", "rails/X_": "Assets:Rails:X-",
	} {
		if got, err := AccountName(path); got != want || err != nil {
			t.Errorf("%s becomes %s (%v), want %s", path, got, err, want)
		}
	}
	if _, err := AccountName("Assets:Evil\n"); !errors.Is(err, ledger.ErrNotInChart) {
		t.Errorf("a path outside the chart: %v", err)
	}
}

// beancountNamedRegexp is beancountNameRegexp with the letters of all scripts.
var beancountNamedRegexp = regexp.MustCompile(`^(Assets|Liabilities|Equity|Income|Expenses)(:[\p{Lu}\p{Nd}][\p{L}\p{Nd}-]*)+$`)

func TestNamedAccount_ValidAndUnique(t *testing.T) {
	t.Parallel()
	// The account of a customer with any name has a name that all three programs accept, and no two
	// accounts have the same name.
	account := rapid.Custom(func(t *rapid.T) ports.AccountHolder {
		var h ports.AccountHolder
		h.Customer.SetUUID(uuid.UUID{1, 15: rapid.Byte().Draw(t, "customer")})
		h.Name = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "Ada", "ada", "ß", "ǆ", "李雷", "-", "🦊", "e\u0301",
			strings.Repeat("x y", 99)})).Draw(t, "name")
		return h
	})
	rapid.Check(t, func(t *rapid.T) {
		var idA, idB ident.InternalAccount
		idA.SetUUID(uuid.UUID{2, 15: rapid.Byte().Draw(t, "a")})
		idB.SetUUID(uuid.UUID{2, 15: rapid.Byte().Draw(t, "b")})
		nameA, errA := NamedAccount("customers/"+idA.String(), account.Draw(t, "holder of a"))
		nameB, errB := NamedAccount("customers/"+idB.String(), account.Draw(t, "holder of b"))
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		if !beancountNamedRegexp.MatchString(nameA) || len([]rune(nameA)) > 200 {
			t.Errorf("an invalid name: %s", nameA)
		}
		if idA != idB && nameA == nameB {
			t.Errorf("%s and %s become %s", idA, idB, nameA)
		}
	})
}

func TestSanitize_ArbitraryText(t *testing.T) {
	t.Parallel()
	// Any memo becomes one line without characters that a program interprets.
	rapid.Check(t, func(t *rapid.T) {
		got := sanitize(rapid.String().Draw(t, "memo"))
		if strings.ContainsAny(got, "\n\r\t;[]{}\"\\|\u2028\u2029\u0085") || strings.Contains(got, "  ") || got != strings.TrimSpace(got) {
			t.Errorf("%q", got)
		}
	})
}
