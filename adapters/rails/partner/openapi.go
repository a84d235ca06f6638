package partner

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/signedmessage"
)

// DescriptionPath is where the service publishes the contract.
const DescriptionPath = "/rails/partner/openapi.json"

const schemaPrefix = "#/components/schemas/"

// introduction is the description of the whole contract.
var introduction = strings.ReplaceAll(`What a sidecar implements so that the service moves money over a provider of the operator.

**Signatures.** Requests and events are messages of [Standard Webhooks](https://www.standardwebhooks.com) with one secret, 'whsec_' and 24 to 64 random bytes in base64: 'webhook-id' is unique to the message, 'webhook-timestamp' is now in seconds, and 'webhook-signature' has one or more of 'v1,' and the base64 HMAC-SHA256 over '{webhook-id}.{webhook-timestamp}.{content}'. The content is the body; of a request without one it is the method and the target below the base URL, such as 'GET /events?after=7&limit=100'. A message without a valid signature, or whose timestamp is more than five minutes from now, is answered with 401.

**Amounts** are integers in the smallest unit of the currency. **Times** are RFC 3339 timestamps. Unknown fields are ignored, and a redirect is not followed.

**Idempotency.** A payment is known by its 'kind' and 'id': a repeated request moves no money, and is answered with the present state. Another 'amount' for it is answered with 409. The refund of a payout has the 'id' of the payout, and is another payment. What is not answered with 200, 201 or 202 and a complete state is not known to the service, and it asks again; only the status REJECTED fails a payment.

**Not now.** 503 or 429 with 'Retry-After' says that the request was not taken; it is repeated then. A payment that was taken and has to wait is PENDING.`, "'", "`")

// Description returns the contract as OpenAPI 3.1, in JSON. It is built from the types that are sent and read.
var Description = sync.OnceValue(func() []byte {
	text, err := json.MarshalIndent(newDescription(), "", "  ")
	if err != nil {
		panic("describe the contract of partners: " + err.Error()) // never: it is built from constants
	}
	return append(text, '\n')
})

// ServeDescription answers with the contract.
func ServeDescription(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(Description()) // the client may have left
}

func newDescription() *huma.OpenAPI {
	d := &description{schemas: huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)}
	o := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Causeway partner contract", Version: "1.0.0", Description: introduction,
			Contact: &huma.Contact{Name: "Operator of this service"}, License: &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"}},
		Servers: []*huma.Server{{URL: "https://partner.example.com/v1", Description: "The sidecar: the url of the connection."}},
		Tags: []*huma.Tag{{Name: "Payments", Description: "Money that the service sends, pulls and sends back."},
			{Name: "Account", Description: "What happens on the account at the provider."}},
		Security: []map[string][]string{{"signature": {}}},
		Components: &huma.Components{Schemas: d.schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{"signature": {Type: "apiKey", In: "header", Name: signedmessage.SignatureHeader,
				Description: "Signature of the message."}}},
		Paths: map[string]*huma.PathItem{},
	}
	for _, k := range []Kind{Payout, Collection, Refund} {
		name := map[Kind]string{Payout: "payout", Collection: "collection", Refund: "refund"}[k]
		o.Paths[k.Path()] = &huma.PathItem{Post: d.operation("submit-"+name, "Payments", "Submit a "+name, submitTexts[k], d.body(Payment{}),
			d.response(State{}, "Its present state."), "400", "401", "409", "429", "503")}
		state := d.operation("get-"+name, "Payments", "Get the state of a "+name, "Returns its present state. A payment that is not known is "+
			"404; it is then unknown to the service whether it was done, and the request is repeated.", nil,
			d.response(State{}, "Its present state."), "401", "404", "429", "503")
		state.Parameters = append(state.Parameters, &huma.Param{Name: "id", In: "path", Required: true, Description: "Id of the payment.",
			Schema: &huma.Schema{Type: huma.TypeString, Format: "uuid"}, Example: exampleID})
		o.Paths[k.Path()+"/{id}"] = &huma.PathItem{Get: state}
	}
	o.Paths["/balances"] = &huma.PathItem{Get: d.operation("get-balances", "Account", "Get the balances",
		"Returns what the account holds now, by currency.", nil, d.response(BalanceList{}, "The balances."), "401", "429", "503")}
	o.Paths["/health"] = &huma.PathItem{Get: d.operation("get-health", "Account", "Say what the sidecar is",
		"Says that the sidecar works and which account it is connected to, for operators who test the connection.", nil,
		d.response(Health{}, "It works."), "401", "503")}
	o.Paths["/events"] = &huma.PathItem{Get: d.listEvents()}
	o.Webhooks = map[string]*huma.PathItem{"event": {Post: d.operation("send-event", "Account", "Send an event",
		"The sidecar sends each event to `/rails/partner/{connection}/events` of the service when it happens, and again until the answer is "+
			"204, 400, 404, 409 or 413, for at least a day. Its content is signed like a request. An event that is known changes nothing, whether "+
			"it was sent or listed. Sending is optional: what is not sent is read from `GET /events`, later.",
		d.body(Event{}), &huma.Response{Description: "It is stored, or known."}, "400", "401", "404", "409", "413", "429", "503")}}
	for _, s := range d.schemas.Map() {
		if s.AdditionalProperties == false {
			s.AdditionalProperties = nil // unknown fields are ignored
		}
		for _, p := range s.Properties {
			p.Nullable = false // an empty list is [], and generators do not know lists that are null
		}
	}
	return o
}

const exampleID = "0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e66"

var submitTexts = map[Kind]string{
	Payout:     "Sends money to the beneficiary in `account`.",
	Collection: "Pulls money from the payer in `account`.",
	Refund: "Sends money back to its payer. `original` names the payment that had brought it, and, if the partner has named the payer " +
		"in its receipt, the account to send it to.",
}

type description struct{ schemas huma.Registry }

func (d *description) schema(body any) *huma.Schema {
	return d.schemas.Schema(reflect.TypeOf(body), true, "")
}

func (d *description) body(body any) *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: d.schema(body)}}}
}

func (d *description) response(body any, text string) *huma.Response {
	return &huma.Response{Description: text, Content: map[string]*huma.MediaType{"application/json": {Schema: d.schema(body)}}}
}

// errorTexts say what the statuses of errors mean.
var errorTexts = map[string]string{
	"400": "The request is not as described here.", "401": "No valid signature, or an old timestamp.", "404": "It is not known.",
	"409": "The id was used for something else.", "413": "The body is too large.",
	"429": "Too many requests; repeat it after Retry-After.", "503": "Not now; repeat it after Retry-After.",
}

func (d *description) operation(id, tag, summary, text string, body *huma.RequestBody, success *huma.Response,
	errors ...string) *huma.Operation {
	status := http.StatusOK
	if len(success.Content) == 0 {
		status = http.StatusNoContent
	}
	responses := map[string]*huma.Response{strconv.Itoa(status): success}
	for _, e := range errors {
		responses[e] = d.response(Problem{}, errorTexts[e])
		if e == "429" || e == "503" {
			responses[e].Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds to wait.",
				Schema: &huma.Schema{Type: huma.TypeInteger}}}
		}
	}
	return &huma.Operation{OperationID: id, Tags: []string{tag}, Summary: summary, Description: text, RequestBody: body, Responses: responses,
		Parameters: signatureHeaders()}
}

// signatureHeaders are those beside the signature itself, which is the security scheme.
func signatureHeaders() []*huma.Param {
	return []*huma.Param{
		{Name: signedmessage.IDHeader, In: "header", Required: true, Description: "Id of the message.",
			Schema: &huma.Schema{Type: huma.TypeString}, Example: "req_4f1c9b"},
		{Name: signedmessage.TimestampHeader, In: "header", Required: true, Description: "When it was signed, in seconds since 1970.",
			Schema: &huma.Schema{Type: huma.TypeString}, Example: "1773489600"},
	}
}

func (d *description) listEvents() *huma.Operation {
	o := d.operation("list-events", "Account", "List events", "Returns what has happened after a cursor, oldest first: everything that is "+
		"sent as an event, and what could not be sent. An event keeps its id. The sidecar lists events for at least 90 days.",
		nil, d.response(EventPage{}, "A page of events."), "400", "401", "429", "503")
	least, most := 1.0, float64(MaxEvents)
	o.Parameters = append(o.Parameters,
		&huma.Param{Name: "after", In: "query", Description: "The cursor of an earlier answer; empty for the beginning.",
			Schema: &huma.Schema{Type: huma.TypeString}, Example: "7"},
		&huma.Param{Name: "limit", In: "query", Description: "Maximum number of events.", Schema: &huma.Schema{Type: huma.TypeInteger,
			Minimum: &least, Maximum: &most}, Example: 100})
	return o
}
