package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/money"
)

// PartnerAccount is a partner's account with the ledger account that statements of it were imported
// for.
type PartnerAccount struct {
	Number   string
	Currency money.Currency
	Path     string
}

// AccountPaths has the ledger account of each partner's account that a person has named, by the
// normalized number.
type AccountPaths map[string]string

// ParseAccountPaths parses number=path pairs separated by semicolons. Fault: INVALID_INPUT for the
// field accounts.
func ParseAccountPaths(text string) (AccountPaths, error) {
	paths := AccountPaths{}
	for part := range strings.SplitSeq(text, ";") {
		number, path, ok := strings.Cut(strings.TrimSpace(part), "=")
		key := normalize(number)
		path = strings.TrimSpace(path)
		switch {
		case number == "" && !ok:
			continue
		case !ok || key == "":
			return nil, invalidAccounts("%.60q is not of the form number=path, such as DE02120300000000202051=rails/SEPA", part)
		case !IsReconcilable(path):
			return nil, invalidAccounts("%.60q is not the ledger account of a partner, "+AccountForms, path)
		case paths[key] != "":
			return nil, invalidAccounts("the account %.60s is named twice", number)
		}
		paths[key] = path
	}
	return paths, nil
}

func invalidAccounts(format string, args ...any) error {
	return fault.Invalid(fault.Field{Field: "accounts", Message: fmt.Sprintf(format, args...)})
}

// Assign returns the path of the ledger account of each statement of a file: the named one, or that
// of the earlier statements of the same partner's account. Fault: INVALID_INPUT for the statements of
// accounts that are neither.
func (p AccountPaths) Assign(statements []Statement, known []PartnerAccount) ([]string, error) {
	paths := make([]string, len(statements))
	var unknown []string
	for i, s := range statements {
		earlier := pathsOf(known, s)
		switch named := p[normalize(s.PartnerAccount)]; {
		case s.PartnerAccount == "":
			return nil, InvalidFile("has a statement that does not say its account; import it with account and currency")
		case named != "":
			paths[i] = named
		case len(earlier) == 1:
			paths[i] = earlier[0]
		case len(earlier) > 1:
			return nil, InvalidFile("has a statement of the account %s in %s, which was imported for %s; name one of them with accounts",
				s.PartnerAccount, s.Currency, strings.Join(earlier, " and "))
		default:
			unknown = append(unknown, fmt.Sprintf("%s in %s", s.PartnerAccount, s.Currency))
			continue
		}
		for j := range i {
			if paths[j] == paths[i] && statements[j].Currency == s.Currency {
				return nil, InvalidFile("has statements of the accounts %s and %s, which are both of %s in %s", statements[j].PartnerAccount,
					s.PartnerAccount, paths[i], s.Currency)
			}
		}
	}
	if len(unknown) > 0 {
		return nil, InvalidFile("has statements of accounts that no ledger account is known for: %s; name it with accounts, as in "+
			"accounts=%s=rails/RTP",
			strings.Join(unknown, ", "), unknown[0][:strings.IndexByte(unknown[0], ' ')])
	}
	return paths, p.checkAllFound(statements)
}

// CheckNumber refuses a statement of another partner's account than those of the earlier statements
// of the ledger account, unless the number is named.
func (p AccountPaths) CheckNumber(s Statement, path string, known []PartnerAccount) error {
	if s.PartnerAccount == "" {
		return p.checkAllFound([]Statement{s})
	}
	if named := p[normalize(s.PartnerAccount)]; named != "" {
		if named != path {
			return invalidAccounts("names %s for the account %s, and account is %s", named, s.PartnerAccount, path)
		}
		return p.checkAllFound([]Statement{s})
	}
	var earlier []string
	for _, k := range known {
		if k.Path == path && k.Currency == s.Currency {
			earlier = append(earlier, k.Number)
		}
	}
	other := pathsOf(known, s)
	const remedy = "; if that is right, name it: accounts=%s=%s"
	switch {
	case slices.Contains(other, path):
	case len(other) > 0:
		return InvalidFile("is a statement of the account %s, whose earlier statements are of %s, not %s"+remedy, s.PartnerAccount,
			strings.Join(other, " and "), path, s.PartnerAccount, path)
	case len(earlier) > 0:
		return InvalidFile("is a statement of the account %s, and the earlier statements of %s in %s are of %s"+remedy, s.PartnerAccount, path,
			s.Currency, strings.Join(earlier, " and "), s.PartnerAccount, path)
	}
	return p.checkAllFound([]Statement{s})
}

// checkAllFound refuses names of accounts that the file has no statement of.
func (p AccountPaths) checkAllFound(statements []Statement) error {
	for number := range p {
		if !slices.ContainsFunc(statements, func(s Statement) bool { return normalize(s.PartnerAccount) == number }) {
			return invalidAccounts("names the account %.60s, of which the file has no statement", number)
		}
	}
	return nil
}

// pathsOf lists the ledger accounts of the earlier statements of the account of a statement.
func pathsOf(known []PartnerAccount, s Statement) (paths []string) {
	for _, k := range known {
		if normalize(k.Number) == normalize(s.PartnerAccount) && k.Currency == s.Currency && !slices.Contains(paths, k.Path) {
			paths = append(paths, k.Path)
		}
	}
	return paths
}

// MaxOverride is the maximum length of the reason of an override in bytes.
const MaxOverride = 500

// CheckContinues compares the opening balance of a statement with the closing balance of the one
// before it, which ended on an earlier day. The mismatch is the empty string if it continues it.
func (s Statement) CheckContinues(before Run) (mismatch string) {
	if s.Opening == nil || before.Closing == nil || *s.Opening == *before.Closing {
		return ""
	}
	amount := func(minor int64) string { return money.Amount{Minor: minor, Currency: s.Currency}.String() }
	return Mismatchf("opens on %s with %s, and the statement before it, of %s to %s, closed with %s: a statement between them is missing (%s)",
		s.From, amount(*s.Opening), before.From, before.To, amount(*before.Closing), before.ID)
}
