package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/jobs"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// JobsCommand is about the jobs that continue payments.
type JobsCommand struct {
	List    jobsListCommand    `cmd:"" help:"List jobs with their state and last error, oldest first."`
	Retry   jobsRetryCommand   `cmd:"" help:"Make dead or failing jobs due now, with all their attempts."`
	Discard jobsDiscardCommand `cmd:"" help:"Delete dead jobs that are not needed. A job that is the next step of money which has not arrived is refused: remove the cause of its failure and retry it. After discarding a job of the step forward, the money stays on the customer's balance; of check-return or check-collection, a return by the bank is not noticed; of call-again, a report of a partner is not looked at, and the job of the payment's step asks later; of open-accounts, customers have no account in a new currency until the currencies of the platform are set again; of import-customers, the rest of a file is not imported; of check-identity, the verification stays IN_PROGRESS until someone decides it; of screen-customers or screen-platform, customers are not compared with the sanctions lists until one is loaded again; of send-mail, the mail is not sent; of report-channels, the other UMA provider does not get the channels of a payment."`
}

// jobFilterFlags select jobs.
type jobFilterFlags struct {
	Step string `help:"Only jobs of this step, such as deliver." placeholder:"STEP"`
	anyPlatformFlag
}

func (f jobFilterFlags) filter(state ports.JobState, limit int) (filter ports.JobFilter, err error) {
	filter = ports.JobFilter{Step: transaction.Step(f.Step), State: state, Limit: limit}
	filter.Platform, err = f.parse()
	return filter, err
}

type jobsListCommand struct {
	DatabaseFlags
	jobFilterFlags
	listFlags
	State string `default:"" enum:",waiting,failing,dead" help:"Only jobs of this state: waiting, failing (retried later) or dead (an operator must act)." placeholder:"STATE"`
}

func (c jobsListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	filter, err := c.filter(ports.JobState(c.State), c.Limit+1)
	if err != nil {
		return err
	}
	return c.with(ctx, env, AsRequest, func(services Services) error {
		listed, err := services.Jobs().List(ctx, filter)
		now := env.Clock.Now()
		return printList(env, c.listFlags, listed, err, listing[ports.ListedJob]{
			columns: []string{"job", "step", "state", ">attempts", ">age|added_at", "due", "platform", "subjects", "last error"},
			row: func(t *table.Table, j ports.ListedJob) {
				due, age := table.Cell{Text: "-"}, table.CellOf(j.AddedAt)
				if !j.Dead {
					due = table.CellOf(j.Due)
				}
				age.Text = formatJobAge(now.Sub(j.AddedAt))
				t.Add(j.ID, j.Step, j.State, j.Attempts, age, due, j.Platform, subjectsText(j.Job), jobError(j.LastError))
			},
			none: "There are no such jobs.", more: "There are more. Narrow the list with --step, --platform or --state, or raise --limit.",
		})
	})
}

// maxErrorWidth is the maximum length of an error in the list of jobs.
const maxErrorWidth = 100

// jobError returns the last error of a job, of which people read the beginning.
func jobError(text string) table.Cell {
	cell := table.Quoted(text)
	if runes := []rune(text); len(runes) > maxErrorWidth {
		cell.Text = strconv.Quote(string(runes[:maxErrorWidth]) + "…")
	}
	return cell
}

// subjectsText names the first subject of a job, and how many more there are.
func subjectsText(j ports.Job) string {
	about := j.About()
	switch len(about) {
	case 0:
		return "-"
	case 1:
		return about[0]
	}
	return fmt.Sprintf("%s and %d more", about[0], len(about)-1)
}

// formatJobAge formats an age in its two largest units.
func formatJobAge(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return d.Round(time.Second).String()
	}
}

type jobsRetryCommand struct {
	DatabaseFlags
	jobFilterFlags
	Jobs   []string `arg:"" optional:"" help:"Ids of jobs, as listed." placeholder:"JOB"`
	All    bool     `help:"Retry all dead jobs, or those of --step and --platform."`
	Reason string   `help:"Why they will succeed now. It is recorded." placeholder:"TEXT"`
	actorFlag
}

func (c jobsRetryCommand) Run(ctx context.Context, env *Env) error {
	if c.All == (len(c.Jobs) > 0) {
		return errors.New("give the ids of jobs, or --all")
	}
	jobIDs, err := parseJobIDs(c.Jobs)
	if err != nil {
		return err
	}
	filter, err := c.filter(ports.JobDead, maxListed)
	if err != nil {
		return err
	}
	return c.with(ctx, env, AsRequest, func(services Services) error {
		service := services.Jobs()
		if c.All {
			listed, err := service.List(ctx, filter)
			if err != nil {
				return err
			}
			for _, j := range listed {
				jobIDs = append(jobIDs, j.ID)
			}
		}
		if len(jobIDs) > 0 {
			by, err := c.author(ctx, env, services)
			if err != nil {
				return fieldErrors("nothing was changed", err)
			}
			if _, err := service.Retry(ctx, jobIDs, jobs.By{Actor: by.Actor, Person: by.Person, Reason: c.Reason}); err != nil {
				return err
			}
		}
		return env.say(nil, "%d jobs are due now.\n", len(jobIDs))
	})
}

type jobsDiscardCommand struct {
	DatabaseFlags
	Jobs   []string `arg:"" help:"Ids of dead jobs, as listed." placeholder:"JOB"`
	Reason string   `required:"" help:"Why they are not needed. It is recorded." placeholder:"TEXT"`
	actorFlag
}

func (c jobsDiscardCommand) Run(ctx context.Context, env *Env) error {
	jobIDs, err := parseJobIDs(c.Jobs)
	if err != nil {
		return err
	}
	return c.withAuthor(ctx, env, c.DatabaseFlags, "nothing was changed", func(services Services, by platform.Author) error {
		discarded, err := services.Jobs().Discard(ctx, jobIDs, jobs.By{Actor: by.Actor, Person: by.Person, Reason: c.Reason})
		return env.say(err, "%d jobs are discarded.\n", len(discarded))
	})
}

func parseJobIDs(texts []string) ([]uuid.UUID, error) {
	parsed := make([]uuid.UUID, len(texts))
	for i, text := range texts {
		var err error
		if parsed[i], err = uuid.Parse(text); err != nil {
			return nil, fault.New(fault.InvalidInput, "%q is not the id of a job. List the jobs with: causeway jobs list", text)
		}
	}
	return parsed, nil
}
