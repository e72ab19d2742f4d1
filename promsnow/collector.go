package promsnow

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

var errNoSource = errors.New("promsnow: the source of statistics is nil")

// A collector makes metrics from statistics of type S.
type collector[S any] struct {
	name    string
	stats   func() S // nil if there is no source
	metrics []metric[S]
}

type metric[S any] struct {
	desc    *prometheus.Desc
	kind    prometheus.ValueType
	samples func(S) []sample
}

// A sample is a value, and the values of its labels other than source.
type sample struct {
	value  float64
	labels []string
}

func (c *collector[S]) counter(name, help string, value func(S) float64) {
	c.add(name, help, prometheus.CounterValue, single(value))
}

func (c *collector[S]) gauge(name, help string, value func(S) float64) {
	c.add(name, help, prometheus.GaugeValue, single(value))
}

func (c *collector[S]) add(name, help string, kind prometheus.ValueType, samples func(S) []sample, labels ...string) {
	c.metrics = append(c.metrics, metric[S]{c.describe(name, help, labels...), kind, samples})
}

func single[S any](value func(S) float64) func(S) []sample {
	return func(s S) []sample { return []sample{{value: value(s)}} }
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (c *collector[S]) describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, prometheus.Labels{"source": c.name})
}

// Describe sends the descriptions of all metrics.
func (c *collector[S]) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		descs <- m.desc
	}
}

// Collect reads the statistics once and sends the metrics.
func (c *collector[S]) Collect(metrics chan<- prometheus.Metric) {
	if c.stats == nil {
		metrics <- prometheus.NewInvalidMetric(c.metrics[0].desc, errNoSource)
		return
	}
	s := c.stats()
	for _, m := range c.metrics {
		for _, v := range m.samples(s) {
			metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, v.value, v.labels...)
		}
	}
}
