package console

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"causeway/app/jobs"
	"causeway/core/person"
	"causeway/ports"
)

// Jobs are the use cases on jobs.
type Jobs interface {
	List(ctx context.Context, f ports.JobFilter) ([]ports.ListedJob, error)
	Retry(ctx context.Context, ids []uuid.UUID, by jobs.By) ([]ports.ListedJob, error)
	Discard(ctx context.Context, ids []uuid.UUID, by jobs.By) ([]ports.ListedJob, error)
}

// jobsPage lists the jobs of a platform.
type jobsPage struct {
	page
	State ports.JobState
	Jobs  []listedJob
	More  bool
	// MayOperate: the person may retry and discard dead jobs.
	MayOperate bool
}

// listedJob is a job with what it is about.
type listedJob struct {
	ports.ListedJob
	About []fact
}

// The most things that a job is shown to be about, in the list and on its own page.
const (
	maxAboutListed = 3
	maxAbout       = 100
)

// aboutJob returns what a job is about, each with its page, the first ones if they are many.
func aboutJob(base string, j ports.ListedJob, most int) (about []fact) {
	all := j.About()
	for _, name := range all[:min(len(all), most)] {
		about = append(about, fact{Name: "About", Value: name, Link: objectLink(base, name)})
	}
	if len(all) > most {
		about = append(about, fact{Name: "About", Value: itoa(len(all)-most) + " more"})
	}
	return about
}

var jobStates = []ports.JobState{"", ports.JobWaiting, ports.JobFailing, ports.JobDead}

// maxJobs is how many jobs are listed.
const maxJobs = 100

func (c *Console) showJobs(r *request) error {
	data := jobsPage{page: c.page(r, "Jobs", "jobs"), State: ports.JobState(r.URL.Query().Get("state"))}
	if !slices.Contains(jobStates, data.State) {
		return errNotFound
	}
	c.refresh(r, &data.page)
	found, err := c.Jobs.List(r.Context(), ports.JobFilter{Platform: r.platform.ID, State: data.State, Limit: maxJobs + 1})
	if err != nil {
		return err
	}
	for _, j := range found[:min(len(found), maxJobs)] {
		data.Jobs = append(data.Jobs, listedJob{j, aboutJob(data.Base, j, maxAboutListed)})
	}
	data.More = len(found) > maxJobs
	data.MayOperate = data.Person.May(person.Operate, r.platform.ID)
	return c.render(r, http.StatusOK, "jobs.html", data)
}

func (c *Console) jobRoutes() []platformRoute {
	return append([]platformRoute{{"GET", "/jobs", person.ViewConnections, c.showJobs},
		{"GET", "/state", person.ViewConnections, c.showState}},
		append(c.actionRoutes("/jobs/{job}/retry", person.Operate, c.retryJob),
			c.actionRoutes("/jobs/{job}/discard", person.Operate, c.discardJob)...)...)
}

// deadJob returns the dead job that the path names.
func (c *Console) deadJob(r *request) (ports.ListedJob, error) {
	id, err := uuid.Parse(r.PathValue("job"))
	if err != nil {
		return ports.ListedJob{}, errNotFound
	}
	found, err := c.Jobs.List(r.Context(), ports.JobFilter{Platform: r.platform.ID, State: ports.JobDead, ID: id, Limit: 1})
	if err != nil {
		return ports.ListedJob{}, err
	}
	i := slices.IndexFunc(found, func(j ports.ListedJob) bool { return j.ID == id })
	if i < 0 {
		return ports.ListedJob{}, &problem{http.StatusNotFound, "Not found", "No such job has stopped. It may run again. List all with " +
			"`causeway jobs list`."}
	}
	return found[i], nil
}

func jobFacts(base string, j ports.ListedJob) []fact {
	facts := append(aboutJob(base, j, maxAbout), fact{Name: "Id", Value: j.ID.String()})
	facts = add(facts, "Step", string(j.Step))
	facts = add(facts, "Attempts", itoa(j.Attempts))
	facts = add(facts, "Failed last", moment(j.FailedAt))
	return add(facts, "Last error", j.LastError)
}

// jobBy returns the person who has signed in as one who acts on jobs, with the reason that was entered.
func jobBy(r *request) jobs.By {
	return jobs.By{Actor: r.in.Person.Email, Person: r.in.Person.ID, Reason: r.PostFormValue("note")}
}

func (c *Console) retryJob(r *request) (action, error) {
	j, err := c.deadJob(r)
	return action{Title: "Retry the job", Section: "jobs", Does: "The job is due at once, with all its attempts. Repeating it moves no " +
		"money twice: partners get the same id.", Facts: jobFacts(basePath(r.platform.ID), j), Fields: []field{noteField}, NeedsCode: true,
		Back: basePath(r.platform.ID) + "/jobs?state=dead",
		do: func(r *request) (string, error) {
			_, err := c.Jobs.Retry(r.Context(), []uuid.UUID{j.ID}, jobBy(r))
			return "", err
		}}, err
}

func (c *Console) discardJob(r *request) (action, error) {
	j, err := c.deadJob(r)
	return action{Title: "Discard the job", Section: "jobs", Does: "The job is deleted, and what it should have done is not done. A job " +
		"whose discarding would strand money is refused.", Facts: jobFacts(basePath(r.platform.ID), j), Fields: []field{noteField},
		NeedsCode: true, Back: basePath(r.platform.ID) + "/jobs?state=dead",
		do: func(r *request) (string, error) {
			_, err := c.Jobs.Discard(r.Context(), []uuid.UUID{j.ID}, jobBy(r))
			return "", err
		}}, err
}
