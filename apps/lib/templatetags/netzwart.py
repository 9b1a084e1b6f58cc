"""Template tags and filters of every page."""

from django import template

register = template.Library()
