package conformance

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/partner"
)

// nameSuite tests one provider of name checks.
type nameSuite struct {
	*ProviderSuite
	account partner.Account // is checked with the names of the tests
}

// NewNames returns a suite for a provider of name checks, or an error for options that are not valid.
func NewNames(ctx context.Context, o ProviderOptions, account partner.Account) (*ProviderSuite, error) {
	s := &nameSuite{account: account}
	return newProviderSuite(ctx, o, func(p *ProviderSuite) []rule {
		s.ProviderSuite = p
		return s.rules()
	})
}

// nameTests are the names of the tests, and what they have to be answered with.
var nameTests = []struct {
	rule, text, name string
	want             partner.NameCheckStatus
}{
	{"match", "a name that matches is a MATCH (name Test Match)", "Test Match", partner.NameMatches},
	{"partial", "a name that matches partly is a PARTIAL_MATCH, with the name of the owner (Test Partial)", "Test Partial",
		partner.NameMatchesPartly},
	{"no-match", "another name is a NO_MATCH, without the name of the owner (Test Other)", "Test Other", partner.NameDiffers},
	{"no-account", "an account that does not exist is NO_ACCOUNT (Test Missing)", "Test Missing", partner.NameOfNoAccount},
	{"not-supported", "an institution that checks no names is NOT_SUPPORTED (Test Unsupported)", "Test Unsupported",
		partner.NameNotSupported},
}

func (s *nameSuite) rules() []rule {
	rules := s.common(request{"POST /name-checks", func(ctx context.Context, client *partner.Client) error {
		return orError(client.CheckName(ctx, s.question("Test Match")))
	}})
	for _, test := range nameTests {
		rules = append(rules, rule{test.rule, test.text, func(ctx context.Context) error { return s.wantResult(ctx, test.name, test.want) }})
	}
	return append(rules,
		rule{"business", "the name of a business is checked too", s.checkBusiness},
		rule{"again", "a repeated question has the same answer", s.checkAgain},
		rule{"no-name", "a question without a name gets 400", s.checkNoName},
		rule{"unavailable", "an institution that does not answer is 503, and no result (Test Unavailable)", s.checkUnavailable},
		rule{"in-time", fmt.Sprintf("every question is answered within %s", s.Within), s.checkInTime})
}

// question asks whether the account belongs to a person.
func (s *nameSuite) question(name string) partner.NameCheck {
	q := partner.NameCheck{ID: uuid.NewString(), PlatformID: s.platform(), Account: s.account}
	q.Account.Holder = &partner.Holder{Type: "INDIVIDUAL", Name: name}
	return q
}

func (s *nameSuite) wantResult(ctx context.Context, name string, want partner.NameCheckStatus) error {
	return s.want(ctx, s.question(name), want)
}

func (s *nameSuite) want(ctx context.Context, q partner.NameCheck, want partner.NameCheckStatus) error {
	r, err := s.client.CheckName(ctx, q)
	if err == nil && r.Result != want {
		err = fmt.Errorf("the name %s was answered with %s, not with %s", q.Account.Holder.Name, r.Result, want)
	}
	return err
}

func (s *nameSuite) checkBusiness(ctx context.Context) error {
	q := s.question("Test Other")
	q.Account.Holder.Type = "BUSINESS"
	if err := s.want(ctx, q, partner.NameDiffers); err != nil {
		return err
	}
	q = s.question("Test Match")
	q.Account.Holder.Type = "BUSINESS"
	return s.want(ctx, q, partner.NameMatches)
}

func (s *nameSuite) checkAgain(ctx context.Context) error {
	q := s.question("Test Partial")
	first, err := s.client.CheckName(ctx, q)
	if err != nil {
		return err
	}
	again, err := s.client.CheckName(ctx, q)
	if err == nil && again != first {
		err = fmt.Errorf("answered with %s and %q, and then with %s and %q", first.Result, first.Name, again.Result, again.Name)
	}
	return err
}

func (s *nameSuite) checkNoName(ctx context.Context) error {
	q := s.question("")
	return wantStatus("POST /name-checks without a name", orError(s.client.CheckName(ctx, q)), http.StatusBadRequest)
}

func (s *nameSuite) checkUnavailable(ctx context.Context) error {
	return wantStatus("POST /name-checks", orError(s.client.CheckName(ctx, s.question("Test Unavailable"))), http.StatusServiceUnavailable)
}

func (s *nameSuite) checkInTime(ctx context.Context) error {
	for _, test := range nameTests {
		began := time.Now()
		if _, err := s.client.CheckName(ctx, s.question(test.name)); err != nil {
			return err
		}
		if took := time.Since(began); took > s.Within {
			return fmt.Errorf("the name %s took %s", test.name, took.Round(time.Millisecond))
		}
	}
	return nil
}
