package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/core/screening"
)

type reviewsShowCommand struct {
	reviewFlags
	outputFlag
	Subject string `arg:"" help:"Id of the verification or the customer." placeholder:"ID"`
	actorFlag
}

// Run records the action before it prints anything of the customer.
func (c reviewsShowCommand) Run(ctx context.Context, env *Env) error {
	var v ident.Verification
	of, err := ident.ParseCustomer(c.Subject)
	if err != nil {
		if v, err = ident.ParseVerification(c.Subject); err != nil {
			return err
		}
	}
	return c.withVerifications(ctx, env, func(p ident.Platform, service *customers.Verifications, services Services) error {
		var found customers.ReviewCase
		if v.IsZero() {
			found, err = service.CustomerCase(ctx, p, of)
		} else {
			found, err = service.ReviewCase(ctx, p, v)
		}
		if err != nil {
			return err
		}
		err = c.record(ctx, env, services, platform.OperatorOpenedReview, p, c.Subject, found.Customer.ID.UUID())
		if err != nil {
			return err
		}
		page := reviewPage(found)
		return c.print(env, &page)
	})
}

// reviewPage shows the data and the documents as they were submitted, which is what a decision is
// about.
func reviewPage(found customers.ReviewCase) (page table.Page) {
	v := found.Verification
	var submitted []uuid.UUID
	text := new(table.Record)
	subject := found.Customer
	if v.ID.IsZero() {
		text.Add("no verification", subject.Status)
	} else {
		text.AddAs(v.ID.String(), "verification", table.Cell{Text: string(v.Status), Value: v.ID.String() + " " + string(v.Status)})
	}
	if found.Customer.Held() {
		text.Add("held since", found.Customer.HeldAt)
	}
	if v.Submitted != nil {
		text.Add("application", v.Submitted.ID)
		text.Add("submitted", v.Submitted.SubmittedAt)
		subject, submitted = v.Submitted.Customer, v.Submitted.Files
	}
	documents := slices.DeleteFunc(found.Documents, func(d document.Document) bool {
		return !d.SupersededBy.IsZero() && !slices.Contains(submitted, d.File.Blob)
	})
	addCustomer(text, subject)
	addDocuments(text, document.Holder{Customer: found.Customer.ID}, documents)
	for _, o := range found.Owners {
		addOwner(text, o)
		addDocuments(text, document.Holder{Owner: o.ID}, documents)
	}
	text.Add("sanctions lists", listsText(found.Lists))
	for _, m := range found.Matches {
		cleared := ""
		if m.Cleared {
			cleared = "cleared before; "
		}
		text.AddAs(m.Entry.ID(), "entry", table.Cell{Text: fmt.Sprintf("%sscore %d: %s", cleared, m.Score, strings.Join(m.Reasons, "; ")),
			Value: m.Entry.ID()})
		addFacts(text, [2]string{"resembles", m.Of}, [2]string{"name", m.Entry.Names[0].Text}, [2]string{"born", birthsText(m.Entry.Births)},
			[2]string{"countries", strings.Join(m.Entry.Countries, ", ")},
			[2]string{"programs", strings.Join(m.Entry.Programs, ", ")})
	}
	for _, h := range found.Hits {
		text.Add("screened", fmt.Sprintf("%s  %s  %s  %s, score %d", h.FoundAt.Format(time.RFC3339), h.Of(), h.EntryID(), h.Status, h.Score))
		addFacts(text, [2]string{"name then", h.SubjectName}, [2]string{"resembled", h.EntryName},
			[2]string{"reasons", strings.Join(h.Reasons, "; ")})
		if h.By != "" {
			text.Add("  last decision", fmt.Sprintf("%s by %q, %q", h.DecidedAt.Format(time.RFC3339), h.By, h.Reason))
		}
	}
	for _, r := range found.Reviews {
		text.Add("decided", fmt.Sprintf("%s  %s  %s by %q: %q", r.At.Format(time.RFC3339), r.Subject, r.Verdict, r.By, r.Reason))
		addFacts(text, [2]string{"relied on", r.Screened})
	}
	page.Record("review", text)
	if len(documents) > 0 {
		page.Line("Open a document with: causeway documents show %s --platform %s --file FILE", documents[0].ID, found.Customer.Platform)
	}
	for _, line := range checkErrorLines(v.Errors) {
		page.Line("%s", line)
	}
	return page
}

// listsText says which lists the names were compared with.
func listsText(lists []screening.LoadedList) string {
	if len(lists) == 0 {
		return "none is loaded: the names were not compared"
	}
	texts := make([]string, len(lists))
	for i, list := range lists {
		texts[i] = fmt.Sprintf("%s published %s", list.List, dateText(list.PublishedAt))
	}
	return strings.Join(texts, ", ")
}

// addFacts adds the facts that are known. Quotation marks keep control characters from the terminal.
func addFacts(text *table.Record, facts ...[2]string) {
	for _, fact := range facts {
		if fact[1] != "" {
			text.Add("  "+fact[0], table.Quoted(fact[1]))
		}
	}
}

func addCustomer(text *table.Record, c customer.Customer) {
	text.AddAs(c.ID.String(), "customer", table.Cell{Text: string(c.Type), Value: c.ID.String()})
	addFacts(text, [2]string{"platform customer id", c.PlatformCustomerID}, [2]string{"name", c.FullName},
		[2]string{"birth date", c.BirthDate},
		[2]string{"nationality", c.Nationality}, [2]string{"region", c.Region}, [2]string{"email", c.Email})
	if b := c.Business; b != nil {
		addFacts(text, [2]string{"legal name", b.LegalName}, [2]string{"doing business as", b.DoingBusinessAs}, [2]string{"country", b.Country},
			[2]string{"entity type", b.EntityType}, [2]string{"registration number", b.RegistrationNumber},
			[2]string{"incorporated on", b.IncorporatedOn},
			[2]string{"tax id", b.TaxID}, [2]string{"business type", b.BusinessType}, [2]string{"purpose of account", b.PurposeOfAccount},
			[2]string{"source of funds", b.SourceOfFunds}, [2]string{"countries of operation", strings.Join(b.CountriesOfOperation, ", ")})
	}
	if c.Address != nil {
		addFacts(text, [2]string{"address", addressText(*c.Address)})
	}
}

func addOwner(text *table.Record, o customer.BeneficialOwner) {
	text.AddAs(o.ID.String(), "beneficial_owner", table.Cell{Text: string(o.Status), Value: o.ID.String()})
	text.Add("  application", o.Check.Application)
	p := o.Person
	addFacts(text, [2]string{"roles", joinTexts(o.Roles, ", ")}, [2]string{"ownership", fmt.Sprintf("%d %%", o.OwnershipPercentage)},
		[2]string{"name", p.FullName()},
		[2]string{"birth date", p.BirthDate}, [2]string{"nationality", p.Nationality},
		[2]string{"address", addressText(p.Address)}, [2]string{"email", p.Email},
		[2]string{"phone number", p.PhoneNumber}, [2]string{"id type", p.IDType}, [2]string{"identifier", p.Identifier},
		[2]string{"issued by", p.CountryOfIssuance})
}

func addDocuments(text *table.Record, of document.Holder, documents []document.Document) {
	for _, d := range documents {
		if d.Holder != of {
			continue
		}
		state := "not submitted"
		if !d.SubmittedAt.IsZero() {
			state = "submitted " + d.SubmittedAt.Format(time.RFC3339)
		}
		if !d.SupersededBy.IsZero() {
			state += ", replaced by " + d.SupersededBy.String()
		}
		description := strings.Join(strings.Fields(fmt.Sprintf("%s %s %s, %s", d.Type, d.Side, d.Country, state)), " ")
		text.AddAs("  "+d.ID.String(), "document", table.Cell{Text: description, Value: d.ID.String()})
		addFacts(text, [2]string{"  number", d.Number}, [2]string{"  issuing authority", d.IssuingAuthority}, [2]string{"  file", d.File.Name})
	}
}

// birthsText returns dates of birth as far as they are known.
func birthsText(births []screening.Birth) string {
	var texts []string
	for _, b := range births {
		text := fmt.Sprint(b.Year)
		switch {
		case b.ToYear > b.Year:
			text = fmt.Sprintf("%d to %d", b.Year, b.ToYear)
		case b.Day > 0:
			text = fmt.Sprintf("%d-%02d-%02d", b.Year, b.Month, b.Day)
		case b.Month > 0:
			text = fmt.Sprintf("%d-%02d", b.Year, b.Month)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func addressText(a party.Address) string {
	var parts []string
	for _, part := range []string{a.Line1, a.Line2, a.City, a.State, a.PostalCode, a.Country} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// checkErrorLines returns the errors of a verification, one on each line.
func checkErrorLines(errors []customer.CheckError) []string {
	lines := make([]string, len(errors))
	for i, e := range errors {
		lines[i] = fmt.Sprintf("  %s %s %s %q", e.Type, e.Resource, e.Field, e.Reason)
	}
	return lines
}
