package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"causeway/adapters/apiclient"
	"causeway/e2e/kit"
)

// measureCustomers imports customers from a file, and then creates some one by one and reads pages of all.
func (b *bench) measureCustomers(ctx context.Context) {
	logf("importing %d customers", b.importRows)
	form, contentType := importForm(b.umaDomain(ctx), "import", b.importRows)
	if b.profileDir != "" {
		defer b.startProfiles(ctx, b.long())()
	}
	b.meter.exec(ctx, "CHECKPOINT")
	var uploaded, took time.Duration
	before := b.meter.read(ctx)
	memory := measureMemoryGrowth(b.service.process.PID(), func() { uploaded, took = b.importCustomers(ctx, form, contentType) })
	b.report.add(onboarding, fmt.Sprintf("Import of %d customers, from the upload to the last row", b.importRows), took,
		judge(goalImport, took*100_000/time.Duration(b.importRows)))
	b.report.add(onboarding, "Customers imported per second", formatRate(int64(b.importRows), took))
	used := costOf(before, b.meter.read(ctx), b.importRows)
	b.report.add(onboarding, "Processor time of one: service, Postgres", strings.Join(used.processorTimes()[:2], ", "))
	b.report.add(onboarding, fmt.Sprintf("Upload of the file, %s", byteSize(len(form))), uploaded)
	b.report.add(onboarding, "Memory of the service during the import", memory)
	b.meter.execIn(ctx, b.meter.database, "ANALYZE")

	const created = 2000
	start := time.Now()
	forEach(ctx, created, func(ctx context.Context, _ int) { b.platform.create(ctx, "/customers", kit.CustomerBody()) })
	b.report.add(onboarding, fmt.Sprintf("`POST /customers` per second, %d in flight", maxSetupConnections),
		formatRate(created, time.Since(start)))
	l := timed(200, func() time.Duration { return b.platform.get(ctx, "/customers?limit=100").Duration })
	b.report.add(onboarding, "`GET /customers?limit=100` then, "+latencyColumn, l)
}

// umaDomain returns the domain of the UMA addresses of the platform.
func (b *bench) umaDomain(ctx context.Context) string {
	var config struct{ UMADomain string }
	check(b.platform.Call(ctx, "GET", "/config", nil, &config))
	return config.UMADomain
}

// importForm returns a form with a file of customers, whose names begin with a word.
func importForm(domain, word string, rows int) (form []byte, contentType string) {
	var body bytes.Buffer
	writer := multipart.NewWriter(&body)
	file := must(writer.CreateFormFile("file", "customers.csv"))
	must(fmt.Fprintln(file, "umaAddress,platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country"))
	for i := range rows {
		must(fmt.Fprintf(file, "$%[3]s-%[1]d@%[2]s,%[3]s-%[1]d,INDIVIDUAL,Ana Silva,1990-01-31,%[1]d Main Street,San Francisco,CA,94105,US\n",
			i, domain, word))
	}
	check(writer.Close())
	return body.Bytes(), writer.FormDataContentType()
}

// importCustomers uploads a file, waits until all its rows are imported, and returns how long each took.
func (b *bench) importCustomers(ctx context.Context, form []byte, contentType string) (upload, whole time.Duration) {
	start := time.Now()
	var job struct {
		JobID, Status string
		Progress      struct{ Total, Successful int }
	}
	response := b.platform.do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/customers/bulk/csv", Body: form,
		ContentType: contentType})
	check(json.Unmarshal(response.Body, &job))
	for path := "/customers/bulk/jobs/" + job.JobID; job.Status != "COMPLETED"; {
		check(sleep(ctx, 50*time.Millisecond))
		check(b.platform.Call(ctx, "GET", path, nil, &job))
	}
	if job.Progress.Successful != b.importRows || job.Progress.Total != b.importRows {
		failf("the import of %d customers ended with %+v", b.importRows, job.Progress)
	}
	return response.Duration, time.Since(start)
}
