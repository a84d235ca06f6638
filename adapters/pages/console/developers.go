package console

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/platforms"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/requestlog"
	"causeway/ports"
)

// Tokens are the use cases on tokens of the API.
type Tokens interface {
	Tokens(ctx context.Context, p ident.Platform, f ports.TokenFilter) (ports.Page[platform.Token], error)
	CreateTokenBy(ctx context.Context, p ident.Platform, by person.Person, name string,
		permissions []platform.Permission) (platforms.IssuedToken, error)
	DeleteTokenBy(ctx context.Context, p ident.Platform, by person.Person, id ident.Token) error
}

// RequestLog are the use cases on the log of requests.
type RequestLog interface {
	List(ctx context.Context, p ident.Platform, f ports.RequestLogFilter) (ports.Page[requestlog.Entry], error)
	Entry(ctx context.Context, p ident.Platform, id ident.RequestLog) (requestlog.Entry, error)
}

func (c *Console) developerRoutes() []platformRoute {
	routes := []platformRoute{
		{"GET", "/tokens", person.View, c.showTokens},
		{"GET", "/requests", person.View, c.showRequests},
		{"GET", "/requests/{request}", person.View, c.showRequest},
		{"GET", "/test-values", person.View, c.showTestValues},
	}
	routes = append(routes, c.actionRoutes("/webhook-endpoint", person.ManageService, c.setWebhookEndpoint)...)
	routes = append(routes, c.actionRoutes("/create-token", person.ManageTokens, c.createToken)...)
	routes = append(routes, c.actionRoutes("/tokens/{token}/revoke", person.ManageTokens, c.revokeToken)...)
	routes = append(routes, c.actionRoutes("/webhooks/{webhook}/redeliver", person.Assist, c.redeliver)...)
	routes = append(routes, c.actionRoutes("/redeliver-failed", person.Assist, c.redeliverFailed)...)
	return append(routes, c.actionRoutes("/test-webhook", person.Assist, c.testWebhook)...)
}

// permissions are those that a token can have, with what each allows.
var permissions = []struct {
	platform.Permission
	does string
}{{platform.View, "read everything of the platform"}, {platform.Transact, "move money"}, {platform.Manage,
	"change settings, customers and books"}}

func (c *Console) showTokens(r *request) error {
	f := ports.TokenFilter{Paging: pagingOf(r)}
	if id, err := uuid.Parse(r.URL.Query().Get("id")); err == nil { // one that was searched for
		f.ID.SetUUID(id)
	}
	found, err := c.Tokens.Tokens(r.Context(), r.platform.ID, f)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Tokens", "tokens"), Intro: "Tokens of the API. Those of people who work in the console have no secret that " +
		"anybody knows."}
	may := v.Person.May(person.ManageTokens, r.platform.ID)
	rows := table{Label: "Tokens", Columns: columns("Created", "Name", "Permissions", "Belongs to", "Client id", "Id", "Do"),
		Empty: "There is no token. Create one to call the API."}
	for _, t := range found.Items {
		of := "a service"
		if !t.Person.IsZero() {
			of = "a person"
		}
		row := []cell{timed(t.CreatedAt), plain(t.Name), plain(words(t.Permissions)), plain(of), plain(t.ClientID), shortID(t.ID.String(), ""),
			{}}
		if may {
			row[6] = linked("Revoke", v.Base+"/tokens/"+pathOfID(t.ID)+"/revoke")
		}
		rows.Rows = append(rows.Rows, row)
	}
	v.Sections = []section{{Table: &rows}}
	if may {
		v.Actions = []fact{actionLink("Create a token", v.Base+"/create-token")}
	}
	v.Older = older(r, found.More, found.Items, func(t platform.Token) string { return pathOfID(t.ID) })
	return c.show(r, v)
}

func (c *Console) createToken(r *request) (action, error) {
	base := basePath(r.platform.ID)
	a := action{Title: "Create a token", Section: "tokens", Does: "A service can call the API with the token. Its secret is shown once, " +
		"on the " +
		"next page. A token of a service approves nothing.", NeedsCode: true, Back: base + "/tokens",
		Fields: []field{{Name: "name", Label: "Name", Hint: "What uses it, such as `checkout`."}}}
	for _, p := range permissions {
		a.Fields = append(a.Fields, field{Name: "may-" + string(p.Permission), Kind: "checkbox", Label: string(p.Permission) + ": " + p.does})
	}
	a.shown = func(r *request) (view, error) {
		var chosen []platform.Permission
		for _, p := range permissions {
			if r.PostFormValue("may-"+string(p.Permission)) != "" {
				chosen = append(chosen, p.Permission)
			}
		}
		issued, err := c.Tokens.CreateTokenBy(r.Context(), r.platform.ID, r.in.Person, formText(r, "name"), chosen)
		if err != nil {
			return view{}, err
		}
		return view{page: c.page(r, "The token was created", "tokens"), Intro: "Copy the secret now: it is not shown again. Anybody who has " +
			"it can act as the token.", Facts: []fact{{Name: "Name", Value: issued.Token.Name}, {Name: "Permissions",
			Value: words(issued.Token.Permissions)},
			{Name: "Client id", Value: issued.Token.ClientID}, {Name: "Secret", Value: issued.Secret}},
			Actions: []fact{actionLink("Tokens", base+"/tokens")}}, nil
	}
	return a, nil
}

func (c *Console) revokeToken(r *request) (action, error) {
	id, err := idIn(r, "token", ident.ParseToken)
	return action{Title: "Revoke the token", Section: "tokens", Does: "Requests with the token are refused from now on. That cannot be " +
		"undone.",
		Facts: []fact{{Name: "Id", Value: id.String()}}, NeedsCode: true, Back: basePath(r.platform.ID) + "/tokens",
		do: func(r *request) (string, error) {
			return "", c.Tokens.DeleteTokenBy(r.Context(), r.platform.ID, r.in.Person, id)
		}}, err
}

// maxRequestsRead is how many requests are looked through for a page, with those that a part of the filter without an index leaves out:
// looking through all of them would keep the page waiting.
const maxRequestsRead = 50_000

// maxSubjects is about how many things requests are looked up at once: a payment and its quote.
const maxSubjects = 2

// requestStatuses are the filters of the log by the first digit of the status.
var requestStatuses = []option{{"", "all"}, {"2", "2xx: done"}, {"4", "4xx: refused"}, {"5", "5xx: failed"}}

func (c *Console) showRequests(r *request) error {
	query := r.URL.Query()
	get := func(name string) string { return strings.TrimSpace(query.Get(name)) }
	v := view{page: c.page(r, "Requests", "requests"), Intro: "Requests of the API of the last days, newest first. Secrets and personal " +
		"data are " +
		"masked."}
	f := ports.RequestLogFilter{Paging: pagingOf(r), Operation: get("operation"), IdempotencyKey: get("key")}
	f.MaxRead = maxRequestsRead
	if digit, err := strconv.Atoi(get("status")); err == nil && digit >= 1 && digit <= 5 {
		f.Statuses = []requestlog.StatusRange{{From: digit * 100, To: digit*100 + 99}}
	}
	f.PathPrefixes = requestlog.PathPrefixes(c.APIPath, get("path"))
	f.Arrived, v.Problems = r.zone().interval(get)
	for _, word := range strings.Fields(get("about")) {
		id, _ := subjectIn(word)
		if f.Subjects = append(f.Subjects, id); id == uuid.Nil || len(f.Subjects) > maxSubjects {
			f.Subjects = nil
			v.Problems = append(v.Problems, "What requests are about is one id or two, such as Transaction:0190…")
			break
		}
	}
	if id := get("id"); id != "" {
		var err error
		if f.RequestID, err = uuid.Parse(id); err != nil {
			v.Problems = append(v.Problems, "The id of a request is a UUID, as in the header Request-Id of its response.")
		}
	}
	v.Filter = &filter{v.Base + "/requests", []field{
		{Name: "status", Label: "Status", Kind: "select", Options: requestStatuses, Value: get("status")},
		{Name: "operation", Label: "Operation", Value: get("operation"), Hint: "Such as `createQuote`."},
		{Name: "path", Label: "Path begins with", Value: get("path")}, {Name: "id", Label: "Id of the request", Value: get("id")},
		{Name: "key", Label: "Idempotency key", Value: get("key")},
		{Name: "about", Label: "Has made or changed", Value: get("about"), Hint: "An id, such as that of a quote."},
		r.zone().field("from", "From", get("from")), r.zone().field("to", "To", get("to"))}}
	if len(v.Problems) > 0 {
		return c.show(r, v)
	}
	found, err := c.RequestLog.List(r.Context(), r.platform.ID, f)
	if err != nil {
		return err
	}
	rows := requestTable(v.Base, found.Items)
	rows.Empty = "There are no such requests. How long they are kept is a setting: `--request-log-retention`."
	v.Sections = []section{{Table: &rows}}
	v.Older = older(r, found.More, found.Items, func(e requestlog.Entry) string { return pathOfID(e.ID) })
	if found.ReadTo != uuid.Nil {
		rows.Empty = "None of them is such a request."
		v.Sections[0].Text = "This page has looked through 50,000 requests. The next page looks further back; with a time in `To`, the " +
			"first one begins there."
		v.Sections[0].Facts = add(nil, "Looked back to", moment(time.Unix(found.ReadTo.Time().UnixTime())))
		v.Older = pageAfter(r, found.ReadTo.String())
	}
	return c.show(r, v)
}

func requestTable(base string, found []requestlog.Entry) table {
	rows := table{Label: "Requests", Columns: columns("Time", "Request", "Operation", ">Status", "Error", ">Milliseconds", "By")}
	for _, e := range found {
		rows.Rows = append(rows.Rows, []cell{timed(e.ArrivedAt), linked(e.Method+" "+e.Path, base+"/requests/"+pathOfID(e.ID)),
			plain(e.Operation), amountCell(strconv.Itoa(e.Status)), plain(e.Code), amountCell(strconv.FormatInt(e.Duration.Milliseconds(), 10)),
			plain(requester(e))})
	}
	return rows
}

func requester(e requestlog.Entry) string {
	if e.Token.IsZero() {
		return short(e.Agent.String())
	}
	return short(e.Token.String())
}

func (c *Console) showRequest(r *request) error {
	id, err := idIn(r, "request", ident.ParseRequestLog)
	if err != nil {
		return err
	}
	e, err := c.RequestLog.Entry(r.Context(), r.platform.ID, id)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, e.Method+" "+e.Path, "requests")}
	v.Facts = add(nil, "Time", moment(e.ArrivedAt)+", "+spanOf(e.Duration))
	v.Facts = add(v.Facts, "Status", strconv.Itoa(e.Status))
	v.Facts = add(v.Facts, "Error", joined([]string{e.Code, e.Message}))
	v.Facts = add(v.Facts, "Operation", e.Operation)
	v.Facts = add(v.Facts, "Query", e.Query)
	v.Facts = add(v.Facts, "Id", e.RequestID.String())
	v.Facts = add(v.Facts, "Idempotency key", e.IdempotencyKey)
	if e.Replayed {
		v.Facts = add(v.Facts, "Answered", "with the response that was saved before")
	}
	if !e.Token.IsZero() {
		v.Facts = add(v.Facts, "Token", e.Token.String())
	}
	v.Sections = []section{contentSection("Request", e.Request), contentSection("Response", e.Response)}
	return c.show(r, v)
}

func contentSection(name string, content requestlog.Content) section {
	s := section{Heading: name, Pre: indented([]byte(content.Body))}
	switch {
	case content.Type == "" && content.Size == 0:
		s.Text = "It has no body."
	case content.Body == "":
		s.Text = "Its body of " + strconv.FormatInt(content.Size, 10) + " bytes is not kept. Which bodies are is a setting: " +
			"`--request-log-bodies`."
	case s.Pre == "":
		s.Pre = content.Body // cut off
	}
	if content.Cut {
		s.Text = "The body is not whole."
	}
	return s
}

func (c *Console) redeliver(r *request) (action, error) {
	id, err := idIn(r, "webhook", ident.ParseWebhook)
	if err != nil {
		return action{}, err
	}
	found, err := c.Webhooks.Delivery(r.Context(), r.platform.ID, id)
	if err != nil {
		return action{}, err
	}
	return action{Title: "Send again", Section: "webhooks", Does: "The webhook is sent again to the endpoint, with the same id, for " +
		"another seven " +
		"days. An endpoint that has accepted it before must take it as a repeat.", Facts: []fact{{Name: "Webhook", Value: id.String()},
		{Name: "Event", Value: found.Name}, {Name: "Status", Value: lower(found.Status)}},
		Record: platform.OperatorAction{Platform: r.platform.ID, Kind: platform.PersonSentWebhooks, Subject: id.UUID(), Name: id.String()},
		Back:   basePath(r.platform.ID) + "/webhooks/" + pathOfID(id),
		do: func(r *request) (string, error) {
			_, err := c.Webhooks.Redeliver(r.Context(), r.platform.ID, ports.Redelivery{IDs: []ident.Webhook{id}})
			return "", err
		}}, nil
}

// redeliverFailed sends all webhooks of a time again that the endpoint has not accepted.
func (c *Console) redeliverFailed(r *request) (action, error) {
	z, base := r.zone(), basePath(r.platform.ID)
	now := c.Clock.Now().In(z.location)
	return action{Title: "Send failed webhooks again", Section: "webhooks", Does: "All webhooks of a time that failed are sent again, " +
		"with the same " +
		"ids, for another seven days.", Fields: []field{
		z.field("from", "From", now.AddDate(0, 0, -7).Format(timeForm)), z.field("to", "To", now.Add(time.Minute).Format(timeForm))},
		Record: platform.OperatorAction{Platform: r.platform.ID, Kind: platform.PersonSentWebhooks, Name: "those that failed"},
		Back:   base + "/webhooks?status=FAILED",
		do: func(r *request) (string, error) {
			from, badFrom := z.parse(r.PostFormValue("from"), first)
			to, badTo := z.parse(r.PostFormValue("to"), last)
			if problem := cmp.Or(badFrom, badTo); problem != "" {
				return "", fault.New(fault.InvalidInput, "A time %s.", problem)
			}
			_, err := c.Webhooks.Redeliver(r.Context(), r.platform.ID, ports.Redelivery{Created: period.Interval{From: from, To: to},
				Status: event.Failed})
			return "", err
		}}, nil
}

func (c *Console) testWebhook(r *request) (action, error) {
	base := basePath(r.platform.ID)
	return action{Title: "Send a test webhook", Section: "webhooks", Does: "A webhook of the type TEST is sent to the endpoint at once, " +
		"and its " +
		"answer is shown.", Facts: []fact{c.page(r, "", "").endpointFact()}, Back: base + "/webhooks",
		shown: func(r *request) (view, error) {
			result, err := c.Webhooks.SendTest(r.Context(), r.platform.ID)
			if err != nil {
				return view{}, err
			}
			v := view{page: c.page(r, "The endpoint has answered", "webhooks"), Facts: []fact{{Name: "Endpoint", Value: result.URL},
				{Name: "HTTP status", Value: strconv.Itoa(result.StatusCode)}}, Actions: []fact{actionLink("Webhooks", base+"/webhooks")}}
			if result.Response != "" {
				v.Sections = []section{{Heading: "Response", Pre: result.Response}}
			}
			return v, nil
		}}, nil
}

// endpointFact returns the endpoint of the webhooks of the platform, which leads who may change it to its page.
func (p page) endpointFact() fact {
	f := fact{Name: "Endpoint", Value: cmp.Or(p.Platform.WebhookEndpoint, "none is set: an administrator sets one")}
	if p.MayManageService() {
		f.Link = p.Base + "/webhook-endpoint"
	}
	return f
}

// setWebhookEndpoint sets the endpoint of the webhooks of the platform.
func (c *Console) setWebhookEndpoint(r *request) (action, error) {
	return action{Title: "Set the webhook endpoint", Section: "webhooks", Does: "All webhooks are sent to this address from now on, also " +
		"those that wait. A webhook of the type TEST is sent to a new one.", NeedsCode: true, Back: basePath(r.platform.ID) + "/webhooks",
		Fields: []field{{Name: "webhookEndpoint", Label: "Endpoint", Value: r.platform.WebhookEndpoint, Hint: "Such as " +
			"`https://example.com/webhooks`. Empty: none are sent."}},
		do: func(r *request) (string, error) {
			endpoint := formText(r, "webhookEndpoint")
			_, err := c.Platforms.UpdateSettings(r.Context(), r.platform.ID, platform.Author{Actor: r.in.Person.Email, Person: r.in.Person.ID},
				platform.Change{WebhookEndpoint: &endpoint})
			return "", err
		}}, nil
}

// showTestValues lists what selects an outcome on a sandbox platform.
func (c *Console) showTestValues(r *request) error {
	if r.platform.Environment != platform.Sandbox {
		return &problem{http.StatusNotFound, "Not found", "A production platform has no test values."}
	}
	v := view{page: c.page(r, "Test values", "test-values"), Intro: "What makes something fail or wait on a sandbox platform. Everything " +
		"else succeeds. Payments are also paid in, settled, returned and expired with the buttons on their pages."}
	rows := table{Label: "Test values", Columns: columns("Value", "As", "What happens")}
	for _, t := range c.TestValues {
		rows.Rows = append(rows.Rows, []cell{plain(t.Value), plain(t.Where), plain(t.Then)})
	}
	v.Sections = []section{{Table: &rows}}
	return c.show(r, v)
}
