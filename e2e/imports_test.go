package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"causeway/adapters/apiclient"
)

const importHeader = "umaAddress,platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country\n"

// importFile is a CSV file with rows that are named user-1 and so on; every hundredth is invalid.
func importFile(domain string, rows int) string {
	var file strings.Builder
	file.WriteString(importHeader)
	for i := range rows {
		birthDate := "1990-02-28"
		if (i+1)%100 == 0 {
			birthDate = "soon"
		}
		fmt.Fprintf(&file, "$user-%[1]d@%[2]s,user-%[1]d,INDIVIDUAL,Ana Ng,%[3]s,\"1 Main St, Apt %[1]d\",Austin,TX,78701,US\n",
			i+1, domain, birthDate)
	}
	return file.String()
}

// importForm is a form with the file.
func importForm(t testing.TB, file string) (contentType string, body []byte) {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreateFormFile("file", "customers.csv")
	if err == nil {
		_, err = io.WriteString(part, file)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return writer.FormDataContentType(), form.Bytes()
}

// importCustomers uploads a file as a form, under an idempotency key.
func (p *tenant) importCustomers(file, key string) apiResponse {
	p.t.Helper()
	contentType, body := importForm(p.t, file)
	return p.withHeader("Content-Type", contentType).withHeader("Idempotency-Key", key).post("/customers/bulk/csv", body)
}

func TestImport_KilledServerImportsEachRowOnce(t *testing.T) {
	t.Parallel()
	// A server that is killed while it receives a file, and again and again while it imports one,
	// loses no row and repeats none. The event is the import as it ended.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	const rows = 2000
	file := importFile(h.get("/config").wantStatus(200).text("umaDomain"), rows)
	restart := func() {
		h.server.kill()
		h.server = startServer(t, h.databaseURL)
		h.client = h.withServer(h.server)
		// Nobody holds the leases of the killed process.
		h.exec("UPDATE jobs SET due_at = now() WHERE step = 'import-customers'")
	}

	contentType, form := importForm(t, file)
	ready, sender := io.Pipe()
	refused := make(chan error, 1)
	go func() {
		_, err := h.Do(context.Background(), apiclient.Request{Method: "POST", Path: "/customers/bulk/csv", Body: io.Reader(ready),
			ContentType: contentType, IdempotencyKey: "first"})
		refused <- err
	}()
	if _, err := sender.Write(form[:len(form)/2]); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a part of the file is stored", func() bool { return h.queryInt("SELECT count(*) FROM customer_import_chunks") > 0 })
	restart()
	_ = sender.Close()
	if err := <-refused; err == nil {
		t.Error("an upload to a killed server has a response")
	}

	uploaded := h.importCustomers(file, "first").wantStatus(202)
	job := "/customers/bulk/jobs/" + uploaded.text("jobId")
	processed := func() int64 { return h.get(job).wantStatus(200).int("progress.processed") }
	for range 3 {
		before := processed()
		eventually(t, "further rows are imported", func() bool { return processed() > before })
		restart()
	}
	repeated := h.importCustomers(file, "first").wantStatus(202)
	h.importCustomers(file+"x", "first").wantError(422, "IDEMPOTENCY_KEY_REUSED")
	event := hooks.awaitDelivery("the end of the import", func(d delivery) bool { return d.event == "BULK_UPLOAD.COMPLETED" })

	ended := h.get(job).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED", "progress.total": rows, "progress.processed": rows,
		"progress.successful": rows * 99 / 100, "progress.failed": rows / 100})
	if got := len(ended.list("errors")); got != rows/100 || ended.text("errors.0.correlationId") != "user-100" {
		t.Errorf("%d errors: %s", got, ended.body)
	}
	if string(repeated.body) != string(uploaded.body) || repeated.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated: %s, first %s", repeated.body, uploaded.body)
	}
	if got, want := fmt.Sprint(event.value("bulkUpload")), fmt.Sprint(decodeJSON(t, ended.body)); got != want {
		t.Errorf("the event has\n%s\nwant\n%s", got, want)
	}
	for query, want := range map[string]int64{
		"SELECT count(*) FROM webhook_events WHERE name = 'BULK_UPLOAD.COMPLETED'": 1,
		"SELECT count(*) FROM customers WHERE platform_customer_id LIKE 'user-%'":  rows * 99 / 100,
		"SELECT count(*) FROM internal_accounts WHERE customer_id IS NOT NULL": rows * 99 / 100 * h.queryInt(
			"SELECT count(*) FROM internal_accounts WHERE customer_id IS NULL"),
		"SELECT count(*) FROM customer_import_chunks c JOIN customer_imports i ON i.platform_id = c.platform_id AND i.id = c.import_id WHERE " +
			"i.status <> 'UPLOADING'": 0,
	} {
		if got := h.queryInt(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

func TestImport_UploadIsLimited(t *testing.T) {
	t.Parallel()
	// A file is refused before it is sent if it is announced as too large. One of another type is
	// refused, and so is a form without a file.
	h := newSharedEnv(t)
	plain := h.withHeader("Content-Type", "application/json")
	plain.post("/customers/bulk/csv", object{}).wantError(415, "UNSUPPORTED_MEDIA_TYPE")
	form := h.withHeader("Content-Type", "multipart/form-data; boundary=xyz")
	form.post("/customers/bulk/csv", "--xyz--\r\n").wantError(400, "INVALID_INPUT")
	h.get("/customers/bulk/jobs/Job:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b").wantError(404, "BULK_UPLOAD_JOB_NOT_FOUND")
	h.get("/customers/bulk/jobs/x").wantError(400, "INVALID_INPUT")

	large := io.LimitReader(zeros{}, 257<<20)
	got, err := h.Do(waitContext(t), apiclient.Request{Method: "POST", Path: "/customers/bulk/csv", Body: large, ContentType: "text/csv"})
	if err == nil && got.Status != 413 { // the connection may be closed before the client has read the response
		t.Errorf("%d %s", got.Status, got.Body)
	}
	eventually(t, "nothing is stored", func() bool {
		return h.queryInt("SELECT count(*) FROM customer_imports WHERE platform_id = $1", uuidOf(h.platformID)) == 0
	})
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "0,\n"[i%3]
	}
	return len(p), nil
}
