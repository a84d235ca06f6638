package postgres_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/period"
	"causeway/ports"
)

func TestCustomer_RoundTrip(t *testing.T) {
	t.Parallel()
	// A customer is read as it was written, with all fields or with the required ones.
	c := newEnv(t)
	least := customer.Customer{
		ID: ident.NewCustomer(generator.New, noon), Platform: c.platform.ID, PlatformCustomerID: "least", Type: customer.Individual,
		UMAAddress: "$least@uma.test", Status: customer.Pending, CreatedAt: noon, UpdatedAt: noon,
	}
	person := newCustomer(c.platform, "person")
	person.Region, person.Currencies, person.Email = "BR", []money.Currency{"BRL", "USD"}, "ana@example.com"
	person.FullName, person.BirthDate, person.Nationality = "Ana 'Aninha' D’Ávila", "1990-02-28", "BR"
	person.Address = &party.Address{Line1: "Rua \"A\" 1", Line2: "ap. 2", City: "São Paulo", State: "SP",
		PostalCode: "01000-000", Country: "BR"}
	person.Diligence = customer.Diligence{SourceOfFundsCategories: []string{"SALARY"}, SourceOfFundsOtherDescription: "a",
		SourceOfWealthCategories: []string{"GIFT"}, SourceOfWealthOtherDescription: "b", PurposeOfAccount: "OTHER",
		PurposeOfAccountOtherDescription: "c", ExpectedMonthlyTransactionCount: "COUNT_UNDER_10",
		ExpectedMonthlyTransactionVolume: "VOLUME_OVER_10M", AnnualIncomeRange: "UNDER_50K", NetWorthRange: "OVER_25M", PEPStatus: "HIO"}
	person.UpdatedAt, person.DeletedAt = noon.Add(time.Minute), noon.Add(time.Minute)
	business := newCustomer(c.platform, "business")
	business.Type, business.FullName = customer.Business, ""
	business.Business = &customer.BusinessInfo{
		LegalName: "Acme & Söhne GmbH", DoingBusinessAs: "Acme", Country: "DE", RegistrationNumber: "HRB 001", IncorporatedOn: "1999-12-31",
		EntityType: "LLC", TaxID: "DE1", CountriesOfOperation: []string{"DE", "AT"}, BusinessType: "INFORMATION", PurposeOfAccount: "OTHER",
		SourceOfFunds: "sales", ExpectedMonthlyTransactionCount: "COUNT_UNDER_10", ExpectedMonthlyTransactionVolume: "VOLUME_OVER_10M",
		ExpectedRecipientJurisdictions: []string{"US"}, SourceOfFundsCategories: []string{"LOANS"}, SourceOfFundsOtherDescription: "d",
		PurposeOfAccountOtherDescription: "e", ExpectedCounterpartyCountries: []string{"FR"}, NAICSCode: "5112",
		PrimaryContactFirstName: "Ana", PrimaryContactLastName: "Silva",
	}
	c.createCustomers(t, least, person, business)

	for _, written := range []customer.Customer{least, person, business} {
		read, err := c.Customer(t.Context(), c.platform.ID, written.ID)
		if err != nil || !reflect.DeepEqual(read, written) {
			t.Errorf("read %+v, %v\nwant %+v", read, err, written)
		}
	}
}

func TestCreateCustomer_UniqueWhileActive(t *testing.T) {
	t.Parallel()
	// A platformCustomerId and a UMA address are unique among the active customers of a platform;
	// deleted customers and other platforms do not count.
	c := newEnv(t)
	gone := newCustomer(c.platform, "ana")
	gone.DeletedAt = noon
	c.createCustomers(t, gone, newCustomer(c.platform, "ana"), newCustomer(c.otherPlatform, "ana"))

	sameID, sameUMA := newCustomer(c.platform, "ana"), newCustomer(c.platform, "bea")
	sameID.UMAAddress, sameUMA.UMAAddress = "$other@uma.test", "$ana@uma.test"
	for name, test := range map[string]struct {
		customer customer.Customer
		want     fault.Code
	}{
		"the same platform customer id": {sameID, fault.Conflict},
		"the same UMA address":          {sameUMA, fault.UMAAddressExists},
	} {
		// The method and the unit of work return the same fault.
		err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			err := tx.CreateCustomer(ctx, test.customer)
			if !fault.Is(err, test.want) {
				t.Errorf("%s: %v, want %s", name, err, test.want)
			}
			return err
		})
		if !fault.Is(err, test.want) {
			t.Errorf("%s: the unit of work ended in %v, want %s", name, err, test.want)
		}
	}
}

func TestCustomers_Filters(t *testing.T) {
	t.Parallel()
	// Every filter returns exactly its customers, and filters can be combined.
	c := newEnv(t)
	ana, bea, gone, firm := newCustomer(c.platform, "ana"), newCustomer(c.platform, "bea"), newCustomer(c.platform, "gone"),
		newCustomer(c.platform, "firm")
	ana.Region, ana.Currencies = "US", []money.Currency{"USD", "BTC"}
	bea.Region, bea.Currencies = "US", []money.Currency{"EUR"}
	gone.DeletedAt = noon
	firm.Type, firm.CreatedAt, firm.UpdatedAt = customer.Business, noon.Add(24*time.Hour), noon.Add(48*time.Hour)
	c.createCustomers(t, ana, bea, gone, firm, newCustomer(c.otherPlatform, "ana"))

	for name, test := range map[string]struct {
		filter ports.CustomerFilter
		want   []customer.Customer
	}{
		"all that are active":     {ports.CustomerFilter{}, []customer.Customer{firm, bea, ana}},
		"all":                     {ports.CustomerFilter{IncludeDeleted: true}, []customer.Customer{firm, gone, bea, ana}},
		"by the platform's id":    {ports.CustomerFilter{PlatformCustomerID: "ana"}, []customer.Customer{ana}},
		"a deleted one by its id": {ports.CustomerFilter{PlatformCustomerID: "gone"}, nil},
		"by type":                 {ports.CustomerFilter{Type: customer.Business}, []customer.Customer{firm}},
		"by region":               {ports.CustomerFilter{Region: "US"}, []customer.Customer{bea, ana}},
		"by currency":             {ports.CustomerFilter{Currency: "BTC"}, []customer.Customer{ana}},
		"by region and currency":  {ports.CustomerFilter{Region: "US", Currency: "EUR"}, []customer.Customer{bea}},
		"by UMA address":          {ports.CustomerFilter{UMAAddress: "$bea@uma.test"}, []customer.Customer{bea}},
		"created since":           {ports.CustomerFilter{Created: period.Interval{From: noon.Add(time.Second)}}, []customer.Customer{firm}},
		"created until": {ports.CustomerFilter{Created: period.Interval{To: noon.Add(time.Millisecond)}},
			[]customer.Customer{bea, ana}},
		"updated in": {ports.CustomerFilter{Updated: period.Interval{From: noon.Add(48 * time.Hour),
			To: noon.Add(48*time.Hour + time.Millisecond)}}, []customer.Customer{firm}},
	} {
		test.filter.Limit = 10
		page, err := c.Customers(t.Context(), c.platform.ID, test.filter)

		if err != nil || page.More || page.Total != int64(len(test.want)) || !reflect.DeepEqual(page.Items, test.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", name, page, err, test.want)
		}
	}
}

func TestCustomers_PagesVisitEachOnce(t *testing.T) {
	t.Parallel()
	// Pages in either order have every customer once, in order of creation, even if customers
	// are created between the pages.
	c := newEnv(t)
	var all []customer.Customer
	for i := range 1000 {
		all = append(all, newCustomer(c.platform, numberedName("c", i)))
	}
	c.createCustomers(t, all...)
	c.createCustomers(t, newCustomer(c.otherPlatform, "other"))
	list := func(p ports.Paging) (ports.Page[customer.Customer], error) {
		return c.Customers(t.Context(), c.platform.ID, ports.CustomerFilter{Paging: p})
	}
	id := func(c customer.Customer) uuid.UUID { return c.ID.UUID() }
	want := make([]uuid.UUID, len(all))
	for i := range all {
		want[i] = id(all[i])
	}

	oldestFirst, totals := readAllPages(t, ports.Paging{Limit: 37, Ascending: true}, list, id)
	if !slices.Equal(oldestFirst, want) || !totals[1000] || len(totals) != 1 {
		t.Errorf("oldest first: %d customers, totals %v", len(oldestFirst), totals)
	}

	slices.Reverse(want)
	late := 0
	newestFirst, _ := readAllPages(t, ports.Paging{Limit: 100}, func(p ports.Paging) (ports.Page[customer.Customer], error) {
		page, err := list(p)
		late++
		c.createCustomers(t, newCustomer(c.platform, numberedName("late", late)))
		return page, err
	}, id)
	if !slices.Equal(newestFirst, want) {
		t.Errorf("newest first: %d customers, want %d in order", len(newestFirst), len(want))
	}
}
