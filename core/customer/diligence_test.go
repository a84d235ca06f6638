package customer_test

import (
	"reflect"
	"testing"

	"causeway/core/customer"
	"causeway/core/platform"
)

func TestUpdate_ChangesWhatAPersonSaysFieldByField(t *testing.T) {
	t.Parallel()
	// What was said stays unless the change names it; an empty value removes it. It is no part of the identity, so that an approved person
	// stays approved. A business has none.
	r := individualRequest()
	r.Diligence = customer.Diligence{SourceOfFundsCategories: []string{"SALARY", "OTHER"}, SourceOfFundsOtherDescription: "Prize",
		SourceOfWealthCategories: []string{"GIFT"}, PurposeOfAccount: "OTHER", PEPStatus: "NONE", NetWorthRange: "OVER_25M"}
	before := approved(t, r)
	change := customer.Change{Type: "INDIVIDUAL", Diligence: customer.DiligenceChange{SourceOfFundsCategories: &[]string{"PENSION"},
		SourceOfFundsOtherDescription: new(""), PEPStatus: new("FOREIGN"), AnnualIncomeRange: new("UNDER_50K")}}

	after, err := before.Update(change, platform.Platform{}, now)

	want := r.Diligence
	want.SourceOfFundsCategories, want.SourceOfFundsOtherDescription = []string{"PENSION"}, ""
	want.PEPStatus, want.AnnualIncomeRange = "FOREIGN", "UNDER_50K"
	if err != nil || !reflect.DeepEqual(after.Diligence, want) || after.Status != customer.Approved {
		t.Errorf("%+v, %s, %v, want %+v", after.Diligence, after.Status, err, want)
	}
	business := businessRequest()
	business.Diligence = r.Diligence
	if c := approved(t, business); !reflect.DeepEqual(c.Diligence, customer.Diligence{}) {
		t.Errorf("a business says %+v", c.Diligence)
	}
}
