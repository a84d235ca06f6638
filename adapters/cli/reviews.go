package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/core/verification"
)

// ReviewsCommand decides the verifications of customers that wait for a person.
type ReviewsCommand struct {
	List    reviewsListCommand    `cmd:"" help:"List the verifications that wait for a decision, oldest first, and the customers and owners who resemble an entry of a sanctions list."`
	Show    reviewsShowCommand    `cmd:"" help:"Print what was submitted with a verification, or the data of a customer, with its owners and documents, the entries of sanctions lists, and earlier decisions. It is personal data: who looked is recorded."`
	Approve reviewsApproveCommand `cmd:"" help:"Approve the customer of a verification, or a beneficial owner. A business is approved when all of its owners are, too."`
	Reject  reviewsRejectCommand  `cmd:"" help:"Reject the customer of a verification, or a beneficial owner and with it the business."`
	Clear   reviewsClearCommand   `cmd:"" help:"Say that entries of sanctions lists which a customer or a beneficial owner resembles are about somebody else. When none is left, the customer may move money again."`
	Confirm reviewsConfirmCommand `cmd:"" help:"Say that an entry of a sanctions list is about a customer or a beneficial owner, and reject the customer."`
	Request reviewsRequestCommand `cmd:"" help:"Ask for the correction of data or documents: the platform sees each problem with its reason, corrects it and submits again."`
}

// reviewFlags are those of all commands on reviews of one platform.
type reviewFlags struct {
	DatabaseFlags
	Platform string `required:"" help:"The platform." placeholder:"ID"`
	ThresholdFlag
}

// withVerifications calls do with the verifications of the platform.
func (f reviewFlags) withVerifications(ctx context.Context, env *Env,
	do func(ident.Platform, *customers.Verifications, Services) error) error {
	id, err := platformFlag{f.Platform}.parse()
	if err != nil {
		return err
	}
	if err := f.CheckThreshold(); err != nil {
		return err
	}
	return f.with(ctx, env, AsRequest, func(services Services) error { return do(id, services.Verifications(f.ScreeningThreshold), services) })
}

type reviewsListCommand struct {
	DatabaseFlags
	listFlags
	Platform string `help:"Only those of this platform, which may be one of the sandbox. Default: all production platforms." placeholder:"ID"`
}

// Run reads one platform after the other. Without a named one it leaves out sandbox platforms, where
// test values decide.
func (c reviewsListCommand) Run(ctx context.Context, env *Env) error {
	only, err := platformFlag{c.Platform}.parse()
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return err
	}
	return c.with(ctx, env, AsRequest, func(services Services) error {
		hits, waiting, err := c.waiting(ctx, services, only)
		if err != nil {
			return err
		}
		var rows [][]any
		now := env.Clock.Now()
		since := func(at time.Time) table.Cell {
			cell := table.CellOf(at)
			cell.Text = now.Sub(at).Round(time.Minute).String()
			return cell
		}
		for _, h := range hits {
			rows = append(rows, []any{h.Of(), fmt.Sprintf("resembles %s (%d)", h.EntryID(), h.Score), since(h.FoundAt), h.Customer, h.Platform})
		}
		for _, v := range waiting {
			rows = append(rows, []any{v.ID, v.Status, since(v.UpdatedAt), v.Customer, v.Platform})
		}
		return printList(env, c.listFlags, rows, nil, listing[[]any]{
			columns: []string{"subject", "status", "waits for|since", "customer", "platform"},
			row:     func(t *table.Table, row []any) { t.Add(row...) },
			none:    "No verification waits for a decision.",
			more:    "There are more. Decide these first, narrow the list with --platform, or raise --limit.",
		})
	})
}

// waiting returns the entries of sanctions lists and the verifications that wait for an operator, those first that wait longest: of
// one platform, or of all production platforms if it is zero, and of each one more than the limit at most.
func (c reviewsListCommand) waiting(ctx context.Context, services Services, only ident.Platform) (hits []screening.Hit,
	verifications []verification.Verification, err error) {
	of, err := reviewedPlatforms(ctx, services, only)
	if err != nil {
		return nil, nil, err
	}
	screened := services.Screening(screening.MinThreshold)
	for _, p := range of {
		found, err := screened.Hits(ctx, p, c.Limit+1)
		if err != nil {
			return nil, nil, err
		}
		waiting, err := screened.Waiting(ctx, p, c.Limit+1)
		if err != nil {
			return nil, nil, err
		}
		hits, verifications = append(hits, found...), append(verifications, waiting...)
	}
	slices.SortStableFunc(hits, func(a, b screening.Hit) int { return a.FoundAt.Compare(b.FoundAt) })
	slices.SortStableFunc(verifications, func(a, b verification.Verification) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return hits, verifications, nil
}

// reviewedPlatforms returns a platform or, if it is zero, all production platforms.
func reviewedPlatforms(ctx context.Context, services Services, only ident.Platform) (found []ident.Platform, err error) {
	if !only.IsZero() {
		return []ident.Platform{only}, nil
	}
	for p, err := range services.Platforms().All(ctx) {
		if err != nil {
			return nil, err
		}
		if p.Environment == platform.Production {
			found = append(found, p.ID)
		}
	}
	return found, nil
}

// reviewDecisionFlags are those of the commands that decide.
type reviewDecisionFlags struct {
	reviewFlags
	Subject     string `arg:"" help:"Id of the verification or the beneficial owner." placeholder:"ID"`
	Application string `required:"" help:"The application that was reviewed, as printed by: causeway reviews show. A decision on another one is refused." placeholder:"UUID"`
	Reason      string `required:"" help:"Why. It is recorded for operators and not shown to the platform." placeholder:"TEXT"`
	actorFlag
}

// decide applies a decision and prints what became of the verification.
func (f reviewDecisionFlags) decide(ctx context.Context, env *Env, verdict verification.Verdict,
	problems func(verification.ReviewSubject, ident.Customer) ([]customer.CheckError, error), cleared ...string) error {
	subject, err := verification.ParseReviewSubject(f.Subject)
	if err != nil {
		return err
	}
	application, err := uuid.Parse(f.Application)
	if err != nil {
		return fmt.Errorf("--application: %q is not the id of an application; causeway reviews show prints it", f.Application)
	}
	return f.withVerifications(ctx, env, func(p ident.Platform, service *customers.Verifications, services Services) error {
		by, err := f.author(ctx, env, services)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		d := verification.Decision{Application: application, By: by.Actor, Person: by.Person,
			Outcome: verification.Outcome{Verdict: verdict, Reason: f.Reason}}
		if problems != nil {
			of := ident.Customer{}
			if subject.Owner.IsZero() {
				found, err := service.Verification(ctx, p, subject.Verification)
				if err != nil {
					return err
				}
				of = found.Customer
			}
			if d.Errors, err = problems(subject, of); err != nil {
				return err
			}
		}
		decided, err := service.Review(ctx, p, subject, d, cleared...)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		if decided.ID.IsZero() {
			return env.say(nil, "%s is decided. The business has no verification yet.\n", subject)
		}
		lines := append([]string{fmt.Sprintf("%s is decided. %s is %s.", subject, decided.ID, decided.Status)},
			checkErrorLines(decided.Errors)...)
		_, err = fmt.Fprintln(env.Out, strings.Join(lines, "\n"))
		return err
	})
}

type reviewsApproveCommand struct {
	reviewDecisionFlags
	Clear []string `sep:"," help:"Entries of sanctions lists that resemble the name and are about somebody else, as printed by: causeway reviews show. They are recorded, and cleared until the entry or the name changes." placeholder:"LIST:ENTRY"`
}

func (c reviewsApproveCommand) Run(ctx context.Context, env *Env) error {
	return c.decide(ctx, env, verification.Accepted, nil, c.Clear...)
}

type reviewsRejectCommand struct {
	reviewDecisionFlags
	Type string `default:"APPLICANT_REJECTED" enum:"APPLICANT_REJECTED,APPLICANT_SANCTIONED,APPLICANT_FRAUD,APPLICANT_CRIMINAL_RECORD" help:"What the platform sees as the type of the error." placeholder:"TYPE"`
	Show string `default:"The verification was rejected." help:"What the platform sees as the reason." placeholder:"TEXT"`
}

func (c reviewsRejectCommand) Run(ctx context.Context, env *Env) error {
	return c.decide(ctx, env, verification.Refused, func(subject verification.ReviewSubject, of ident.Customer,
	) ([]customer.CheckError, error) {
		return []customer.CheckError{{Resource: reviewedResource(subject, of), Type: customer.CheckErrorType(c.Type), Reason: c.Show}}, nil
	})
}

// reviewedResource returns the id of who is reviewed, as the errors of a verification name it.
func reviewedResource(subject verification.ReviewSubject, of ident.Customer) string {
	if !subject.Owner.IsZero() {
		return subject.Owner.String()
	}
	return of.String()
}

type reviewsRequestCommand struct {
	reviewDecisionFlags
	Field   map[string]string `mapsep:"none" help:"A field to correct, by its path in a request, with the reason. Can be repeated." placeholder:"PATH=REASON"`
	Problem map[string]string `mapsep:"none" help:"Another problem, such as EXPIRED_DOCUMENT, with the reason; TYPE@Document:... says of which document. Can be repeated." placeholder:"TYPE=REASON"`
}

func (c reviewsRequestCommand) Run(ctx context.Context, env *Env) error {
	return c.decide(ctx, env, verification.Correctable, func(subject verification.ReviewSubject, of ident.Customer,
	) ([]customer.CheckError, error) {
		return c.problems(reviewedResource(subject, of))
	})
}

// problems returns what the flags name, in the order of the names.
func (c reviewsRequestCommand) problems(resource string) ([]customer.CheckError, error) {
	var found []customer.CheckError
	for _, path := range slices.Sorted(maps.Keys(c.Field)) {
		found = append(found, customer.CheckError{Resource: resource, Type: customer.InvalidField, Field: path, Reason: c.Field[path]})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Problem)) {
		kind, document, named := strings.Cut(name, "@")
		if named {
			if _, err := ident.ParseDocument(document); err != nil {
				return nil, fmt.Errorf("--problem %s: %w", name, err)
			}
		}
		found = append(found, customer.CheckError{Resource: cmp.Or(document, resource), Type: customer.CheckErrorType(kind),
			Reason: c.Problem[name]})
	}
	return found, nil
}
